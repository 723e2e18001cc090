package ruleset
import ("testing";"log/slog";"github.com/sluicehq/sluice/cmd/sluice/config")
func BenchmarkBuild(b *testing.B){
 l:=&config.Loaded{Config:config.Default()}
 l.Config.Daemon.Rules=[]string{"/tmp/rulesX/rules"}
 b.ReportAllocs()
 for b.Loop(){ if _,err:=Build(b.Context(),DaemonSettings(l),slog.New(slog.DiscardHandler));err!=nil{b.Fatal(err)}}
}

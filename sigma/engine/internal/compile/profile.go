package compile

import (
	"strings"
	"sync"

	"github.com/sluicehq/sluice/sigma/event"
)

// profile estimates how often predicates hold in traffic. It is a guess from
// what Windows and Linux telemetry usually looks like; a bad guess costs time,
// never a match.
type profile struct {
	values  []string                // typical values, folded
	windows [windowSlots]windowSlot // of three and four bytes: how often they are met
	met     [windowBits / 64]uint64 // hashed windows that are
	pairs   [1 << 16]uint8          // of bytes: how often they are met, at most maxPair
}

// windowSlot counts a window. The slots are a hash table less than half full.
type windowSlot struct{ window, count uint32 }

const (
	windowBits  = 1 << 16
	windowSlots = 1 << 14
	maxPair     = 50
)

// typical values stand for traffic: how programs, command lines, paths, users
// and messages mostly look.
const typical = `c:\windows\system32\svchost.exe
c:\windows\system32\cmd.exe
c:\windows\system32\windowspowershell\v1.0\powershell.exe
c:\windows\system32\conhost.exe
c:\windows\system32\services.exe
c:\windows\system32\lsass.exe
c:\windows\system32\wbem\wmiprvse.exe
c:\windows\system32\rundll32.exe
c:\windows\system32\taskhostw.exe
c:\windows\system32\reg.exe
c:\windows\system32\net.exe
c:\windows\system32\dllhost.exe
c:\windows\system32\msiexec.exe
c:\windows\system32\schtasks.exe
c:\windows\system32\ntdll.dll
c:\windows\system32\kernel32.dll
c:\windows\system32\kernelbase.dll
c:\windows\system32\combase.dll
c:\windows\syswow64\rpcrt4.dll
c:\windows\system32\drivers\etc\hosts
c:\windows\explorer.exe
c:\windows\temp\tmp0001.tmp
c:\program files\mozilla firefox\firefox.exe
c:\program files\google\chrome\application\chrome.exe
c:\program files (x86)\microsoft\edge\application\msedge.exe
c:\program files\microsoft office\root\office16\winword.exe
c:\program files\microsoft office\root\office16\outlook.exe
c:\programdata\microsoft\windows defender\platform\msmpeng.exe
c:\users\user\appdata\local\microsoft\teams\current\teams.exe
c:\users\user\appdata\local\temp\is-0001.tmp\setup.tmp
c:\users\user\documents\report.docx
c:\users\user\downloads\archive.zip
c:\windows\system32\svchost.exe -k netsvcs -p -s schedule
c:\windows\system32\svchost.exe -k localservice -s netprofm
c:\windows\system32\cmd.exe /c dir
"c:\windows\system32\windowspowershell\v1.0\powershell.exe" -executionpolicy bypass -noprofile -file script.ps1
powershell.exe -nop -w hidden -enc jabzad0a
"c:\program files\mozilla firefox\firefox.exe" -contentproc --channel=1234 -isforbrowser
"c:\program files\google\chrome\application\chrome.exe" --type=renderer --lang=en-us --field-trial-handle=1
c:\windows\system32\conhost.exe 0xffffffff -forcev1
rundll32.exe shell32.dll,control_rundll
reg add hkcu\software\microsoft\windows\currentversion\run /v name /d value /f
net user administrator /domain
whoami /all
ipconfig /all
"c:\windows\system32\mmc.exe" c:\windows\system32\taskschd.msc
hklm\system\currentcontrolset\services\bam\state\usersettings\s-1-5-21
hklm\software\microsoft\windows\currentversion\explorer
hku\s-1-5-21\software\microsoft\windows\currentversion\run
nt authority\system
nt authority\network service
corp\user
workstation\administrator
microsoft-windows-sysmon/operational
microsoft-windows-sysmon
microsoft-windows-security-auditing
microsoft-windows-powershell/operational
microsoft corporation
microsoft® windows® operating system
microsoft® windows®
windows
process_creation
file_event
security
system
high
medium
sha1=565505d129a019780e351e615a29722aef479380,md5=f3f3d2b0196b9a00e91838888e76b5f6,sha256=e9ef80a7,imphash=8c3be1286cdad6ac1136d0bb6c83ff41
{e2c04bb9-08c3-60c4-1c17-400100000000}
0x3e7
0x1fffff
0x1000
10.0.19041.1 (winbuild.160101.0800)
2026-07-28 11:44:53.919
2026-07-28t11:44:53.919z
192.168.1.10
10.0.0.1
fe80::1
tcp
true
false
443
4624
4688
a new process has been created. creator subject: security id: s-1-5-18 account name: host$ account domain: corp logon id: 0x3e7 process information: new process id: 0x53e9 new process name: c:\windows\system32\cmd.exe token elevation type: %%1936 mandatory label: s-1-16-8192 creator process id: 0x421c process command line:
an account was successfully logged on. logon type: 3 workstation name: source network address: - logon process: advapi authentication package: negotiate key length: 0
process create: rulename: - utctime: 2026-07-28 11:44:53.919 processguid: {e2c04bb9} processid: 2164 image: fileversion: description: product: company: originalfilename: commandline: currentdirectory: user: logonguid: integritylevel: high hashes: parentprocessguid: parentimage: parentcommandline:
process accessed: sourceprocessguid: targetprocessguid: sourceimage: targetimage: grantedaccess: 0x1fffff calltrace: c:\windows\system32\ntdll.dll+9c524|c:\windows\system32\kernelbase.dll+2725e|c:\windows\system32\combase.dll+1c7b|unknown(00000000)
registry value set: eventtype: setvalue targetobject: hklm\system\currentcontrolset details: dword (0x00000001)
image loaded: imageloaded: signed: true signature: microsoft windows signaturestatus: valid
file created: targetfilename: creationutctime:
sshd: accepted password for root from 10.0.0.1 port 22 ssh2
user executed: show running-config interface gigabitethernet0/1
get /index.html http/1.1 200 mozilla/5.0 (windows nt 10.0; win64; x64) applewebkit/537.36 (khtml, like gecko) chrome/120.0.0.0 safari/537.36
function prompt { param($name) if ($null -eq $name) { return get-childitem -path . | foreach-object { $_.name } } write-host new-object system }`

// traffic is the profile, made once.
var traffic = sync.OnceValue(newProfile)

// rarity is the order of windows in it.
func rarity(window uint32) int { return traffic().rarity(window) }

func newProfile() *profile {
	p := new(profile)
	for v := range strings.SplitSeq(typical, "\n") {
		v = event.Fold(v)
		p.values = append(p.values, v)
		for i := 0; i+1 < len(v); i++ {
			if n := &p.pairs[uint16(v[i])<<8|uint16(v[i+1])]; *n < maxPair {
				*n++
			}
			if i+3 <= len(v) {
				p.meet(uint32(v[i]) | uint32(v[i+1])<<8 | uint32(v[i+2])<<16)
			}
			if i+4 <= len(v) {
				p.meet(windowAt(v, i))
			}
		}
	}
	return p
}

func (p *profile) meet(w uint32) {
	s := p.slot(w)
	s.window = w
	s.count++
	h := windowHash(w)
	p.met[h/64] |= 1 << (h % 64)
}

// slot returns the slot of a window, a free one when it is not met.
func (p *profile) slot(w uint32) *windowSlot {
	for at := windowHash(w) % windowSlots; ; at = (at + 1) % windowSlots {
		if s := &p.windows[at]; s.count == 0 || s.window == w {
			return s
		}
	}
}

// meets reports false for windows that no typical value has: most.
func (p *profile) meets(w uint32) bool {
	h := windowHash(w)
	return p.met[h/64]>>(h%64)&1 != 0
}

func windowHash(w uint32) uint32 { return w * 0x9E3779B1 >> 16 }

func windowAt(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// rarity orders windows of four bytes, or of three with a zero behind, by how
// often they are met. Random hexadecimal and decimal text is everywhere, so
// windows of digits alone come last.
func (p *profile) rarity(w uint32) int {
	n := 0
	if p.meets(w) {
		n = 1000 * int(p.slot(w).count)
	}
	before := byte(w)
	digits := isHex(before)
	for rest := w >> 8; rest != 0; rest >>= 8 {
		c := byte(rest)
		digits = digits && isHex(c)
		n += int(p.pairs[uint16(before)<<8|uint16(c)])
		before = c
	}
	if digits {
		n += 800
	}
	return n
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || c == '-' }

// share estimates how often a predicate holds for an event.
func (p *profile) share(pred *Pred, field string) float64 {
	here := presence(pred.Field, field)
	switch pred.Kind {
	case Present:
		return here
	case Equal:
		return here * equalShare(field, pred.Text)
	case Among:
		if pred.Op == CIDR {
			return here
		}
		return here * p.shareAmong(pred)
	case Exact, Prefix, Suffix, Contains:
	default:
		return here
	}
	if pred.Kind == Exact && field == "EventID" {
		return here * equalShare(field, pred.Text)
	}
	return here * (float64(p.count(pred))/float64(len(p.values))*4 + base(len(pred.Text)))
}

// count returns for how many of the typical values a predicate holds. None is
// looked at unless all windows of the text are met somewhere: the fast path.
func (p *profile) count(pred *Pred) int {
	for i := 0; i+4 <= len(pred.Text); i++ {
		if !p.meets(windowAt(pred.Text, i)) {
			return 0
		}
	}
	n := 0
	for _, v := range p.values {
		if holdsFor(pred, v) {
			n++
		}
	}
	return n
}

// base is the share of what the typical values do not show.
func base(length int) float64 {
	switch {
	case length >= 12:
		return 0.00005
	case length >= 8:
		return 0.0002
	case length >= 6:
		return 0.0008
	case length >= 4:
		return 0.004
	}
	return 0.05
}

func holdsFor(p *Pred, v string) bool {
	switch p.Kind {
	case Exact:
		return v == p.Text
	case Prefix:
		return strings.HasPrefix(v, p.Text)
	case Suffix:
		return strings.HasSuffix(v, p.Text)
	}
	return strings.Contains(v, p.Text)
}

// presence estimates how many events have a field.
func presence(field uint32, name string) float64 {
	if field == Keywords {
		return 1
	}
	switch name {
	case "EventID", "Channel", "Provider_Name", "Computer", "Hostname", "product", "category":
		return 0.9
	case "Image", "User", "ProcessId", "UtcTime", "ProcessGuid":
		return 0.6
	case "CommandLine", "ParentImage", "ParentCommandLine", "OriginalFileName", "Description", "Product",
		"Company", "Hashes", "CurrentDirectory", "IntegrityLevel", "LogonId", "Message", "message":
		return 0.4
	}
	return 0.1
}

// equalShare estimates how often an identifier has a value.
func equalShare(field, value string) float64 {
	if field != "EventID" {
		return 0.05
	}
	switch value {
	case "1", "3", "7", "10", "11", "12", "13", "4104", "4624", "4656", "4663", "4688", "5156", "4658", "4690":
		return 0.1
	}
	return 0.005
}

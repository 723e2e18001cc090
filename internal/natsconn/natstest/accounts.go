package natstest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Accounts makes a server trust an operator, with one account that has JetStream, and
// returns the credentials file of a user.
func Accounts(t *testing.T, o *server.Options) (creds string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	keys := func(kp nkeys.KeyPair, err error) (nkeys.KeyPair, string) {
		t.Helper()
		must(err)
		public, err := kp.PublicKey()
		must(err)
		return kp, public
	}
	operator, operatorKey := keys(nkeys.CreateOperator())
	account, accountKey := keys(nkeys.CreateAccount())
	_, systemKey := keys(nkeys.CreateAccount())
	user, userKey := keys(nkeys.CreateUser())

	claims := jwt.NewAccountClaims(accountKey)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accountJWT, err := claims.Encode(operator)
	must(err)
	systemJWT, err := jwt.NewAccountClaims(systemKey).Encode(operator)
	must(err)
	trusted := jwt.NewOperatorClaims(operatorKey)
	_, err = trusted.Encode(operator)
	must(err)
	userClaims := jwt.NewUserClaims(userKey)
	userJWT, err := userClaims.Encode(account)
	must(err)
	seed, err := user.Seed()
	must(err)
	text, err := jwt.FormatUserConfig(userJWT, seed)
	must(err)

	resolver := &server.MemAccResolver{}
	must(resolver.Store(accountKey, accountJWT))
	must(resolver.Store(systemKey, systemJWT))
	o.SystemAccount = systemKey
	o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{trusted}, resolver
	creds = filepath.Join(t.TempDir(), "user.creds")
	must(os.WriteFile(creds, text, 0o600))
	return creds
}

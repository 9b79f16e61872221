package mail_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/mail"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreign runs aiosmtpd and gives its port and the folder of its mails.
func foreign(t *testing.T, mode mail.TLSMode, ca *authority) (port int, folder string) {
	t.Helper()
	tools, err := filepath.Abs("../.tools/python")
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(tools, "aiosmtpd"), `the tests need aiosmtpd: run "make setup"`)
	folder = t.TempDir()
	_, both := ca.issue(t, "127.0.0.1", time.Now().Add(time.Hour))
	cert := filepath.Join(t.TempDir(), "cert.pem")
	require.NoError(t, os.WriteFile(cert, both, 0o600))
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/server.py", string(mode), cert, folder)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+tools, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore")
	var words bytes.Buffer
	cmd.Stderr = &words
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(words.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "aiosmtpd did not start")
	port, err = strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	return port, folder
}

// TestAServerOfAnotherMake sends through aiosmtpd: encryption, logins, a temporary
// refusal and then success, and what arrives is what was sent.
func TestAServerOfAnotherMake(t *testing.T) {
	ca := newAuthority(t)
	for _, mode := range []mail.TLSMode{mail.STARTTLS, mail.Implicit, mail.NoTLS} {
		t.Run(string(mode), func(t *testing.T) {
			port, folder := foreign(t, mode, ca)
			with := func(auth, secret string) *mail.Sender {
				return sender(t, port, func(c *mail.Config) {
					c.TLS, c.RootCAs, c.Auth = mode, ca.pool, auth
					if mode != mail.NoTLS {
						c.User, c.Password = user, secret
					}
				})
			}
			m, sent := full(), 0
			for _, auth := range []string{mail.AuthAuto, mail.AuthPlain, mail.AuthLogin} {
				r, err := with(auth, password).Send(t.Context(), m)
				require.NoError(t, err, auth)
				sent++
				assert.Equal(t, mail.Receipt{Code: 250, Text: "2.0.0 Ok: queued as 00" + strconv.Itoa(sent)}, r)
			}
			m.To = "grey@example.com"
			e := failure(t, with("", password), m)
			assert.Equal(t, mail.Error{Code: 450, Enhanced: "4.2.0", Text: "4.2.0 Greylisted, try again", Step: mail.StepTo}, *e)
			_, err := with("", password).Send(t.Context(), m)
			require.NoError(t, err)
			sent++
			m.To = "nobody@example.com"
			e = failure(t, with("", password), m)
			assert.Equal(t, mail.Error{Code: 550, Enhanced: "5.1.1", Text: "5.1.1 No such mailbox", Step: mail.StepTo, Permanent: true}, *e)
			if mode != mail.NoTLS {
				e = failure(t, with("", "wrong"), m)
				assert.Equal(t, 535, e.Code)
				assert.Equal(t, mail.StepAuth, e.Step)
			}
			files, err := filepath.Glob(filepath.Join(folder, "*"))
			require.NoError(t, err)
			require.Len(t, files, sent)
			for i, file := range files {
				raw, err := os.ReadFile(file)
				require.NoError(t, err)
				part := bytes.SplitN(raw, []byte("\n"), 4)
				assert.Equal(t, "alarm@example.com", string(part[0]))
				assert.Equal(t, []string{"li.lei@example.com", "li.lei@example.com", "li.lei@example.com", "grey@example.com"}[i], string(part[1]))
				assert.Equal(t, map[bool]string{true: "False", false: "True"}[mode == mail.NoTLS], string(part[2]))
				envelope := read(t, part[3])
				assert.Equal(t, m.Subject, envelope.GetHeader("Subject"))
				assert.Equal(t, "<inc-7-resolved@carillon.example.com>", envelope.GetHeader("Message-ID"), "the same on each try")
				assert.Equal(t, m.Text, strings.TrimRight(strings.ReplaceAll(envelope.Text, "\r\n", "\n"), "\n"))
				require.Len(t, envelope.Inlines, 1)
				assert.Equal(t, pixel, envelope.Inlines[0].Content)
			}
		})
	}
}

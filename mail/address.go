package mail

import (
	"errors"
	netmail "net/mail"
	"strings"
)

// What is wrong with an address.
var (
	ErrNoAddress      = errors.New("this is not a mail address such as name@example.com")
	ErrOneAddress     = errors.New("this is more than one mail address, or has a name beside it")
	ErrAddressTooLong = errors.New("the mail address is longer than 254 characters, or its part before the @ longer than 64")
	ErrAddressASCII   = errors.New("the mail address has characters outside of ASCII")
)

// CheckAddress takes one plain address: local@domain, of letters, digits and the
// signs that RFC 5321 allows without quotes. Everything else is refused, and with it
// whatever could reach another recipient: line breaks, lists, names, comments, quoted
// local parts (CVE-2025-59937) and addresses in brackets.
func CheckAddress(s string) error {
	local, domain, ok := strings.Cut(s, "@")
	for _, r := range s {
		if r < ' ' || r == 0x7f {
			return ErrNoAddress
		}
		if r > 0x7f {
			return ErrAddressASCII
		}
	}
	switch {
	case strings.ContainsAny(s, ",;<> "):
		return ErrOneAddress
	case !ok || strings.Contains(domain, "@"):
		return ErrNoAddress
	case len(s) > 254 || len(local) > 64:
		return ErrAddressTooLong
	case !isDotAtom(local), !isHostName(domain), !strings.Contains(domain, ".") && domain != "localhost", strings.HasSuffix(domain, "."), strings.Contains(domain, "_"):
		return ErrNoAddress
	}
	return nil
}

// isDotAtom is the unquoted form of RFC 5321, 4.1.2.
func isDotAtom(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" {
			return false
		}
		for _, r := range atom {
			if !isWord(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) {
				return false
			}
		}
	}
	return true
}

// parseFrom reads the sender, whose display name is cleaned.
func parseFrom(s string) (*netmail.Address, error) {
	a, err := netmail.ParseAddress(strings.TrimSpace(s))
	if err != nil {
		return nil, errors.New("the sender is not a mail address; it is written alarm@example.com or Carillon <alarm@example.com>")
	}
	if err := CheckAddress(a.Address); err != nil {
		return nil, err
	}
	a.Name = line(a.Name, 120)
	return a, nil
}

package views

// Password is the form that changes the own password.
type Password struct {
	Page
	Errors  map[string]string
	Message string
	Must    bool   // somebody else chose the password that is in use
	Next    string // where to go on
	Kept    Kept   // what was typed before the login ended
}

// Help is the help page.
type Help struct {
	Page
	Version, Build, GoVersion string
	SourceURL, Licence        string
}

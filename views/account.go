package views

// Password is the form that changes the own password.
type Password struct {
	Page
	Errors  map[string]string
	Message string
}

// Help is the help page.
type Help struct {
	Page
	Version, Build, GoVersion string
	SourceURL, Licence        string
}

//! Where `install.sh` and `install.ps1` differ, each time with the reason. What both have is not listed.

pub(super) const OPTIONS: &[(&str, &str)] = &[
    ("Backend", "a release has no backend for Windows"),
    (
        "Completions",
        "the other shells search a folder for completions; PowerShell loads them by the profile of its owner alone",
    ),
    (
        "RegistrationKey",
        "`irm | iex` sets a variable in a statement of its own, so a flag is worth having",
    ),
];

pub(super) const VARIABLES: &[(&str, &str)] = &[(
    "LINK_POWERSHELL_PROFILE",
    "install.ps1 sets it for `link` with -Completions; elsewhere it is set by hand",
)];

pub(super) const CODES: &[(&str, &str)] = &[];

pub(super) const MESSAGES: &[(&str, &str)] = &[
    // Other tools.
    (
        "10 * is needed",
        "install.sh needs tar, awk and their like; PowerShell needs no other program",
    ),
    (
        "10 curl or GNU wget is needed: other programs of that name verify no certificate \
         (Alpine: apk add curl; Debian: apt-get install curl)",
        "PowerShell downloads by .NET, not by a program",
    ),
    (
        "10 PowerShell 5.1 or newer is needed: install Windows Management Framework 5.1",
        "a POSIX shell has no version that install.sh could ask for",
    ),
    (
        "21 no tool for SHA-256 (sha256sum, shasum, openssl or sha256)",
        "the tools have other names on Windows",
    ),
    ("21 no tool for SHA-256 (Get-FileHash or .NET)", "the tools have other names on Windows"),
    // Other homes.
    (
        "11 * does not belong to the user that this runs as, *: run `sh install.sh` without sudo to \
         install for yourself, `sudo -H sh install.sh` to install for root itself, or `sudo -iu USER` \
         first for somebody else; with LINK_HOME=FOLDER it goes anywhere",
        "on Windows an elevated session of another user has the profile of that user: there is no sudo -E",
    ),
    (
        "11 there is no HOME: set LINK_HOME to the folder to install in",
        "Windows has LOCALAPPDATA and USERPROFILE in the place of HOME",
    ),
    (
        "11 there is no profile of this user: set LINK_HOME to the folder to install in",
        "Windows has LOCALAPPDATA and USERPROFILE in the place of HOME",
    ),
    ("11 there is no folder for temporary files", "GetTempPath of .NET always has an answer"),
    // Other systems.
    ("13 this system is not supported: *", "install.ps1 names the installer of the other systems"),
    (
        "13 this system is not supported: install.sh installs Link on Linux and macOS",
        "PowerShell 7 also runs on the systems of install.sh",
    ),
    // Other spelling.
    ("2 * needs a value", "PowerShell itself refuses a parameter without a value"),
    (
        "2 unknown option: *",
        "PowerShell itself refuses an unknown parameter, and `-File` ends with 1",
    ),
    (
        "2 --branch needs --repo-url: * is one folder without branches; give --repo-url, or leave out --branch",
        "parameters are spelt as in PowerShell",
    ),
    (
        "2 -Branch needs -RepoUrl: * is one folder without branches; give -RepoUrl, or leave out -Branch",
        "parameters are spelt as in PowerShell",
    ),
    (
        "2 where are the releases? give --repo-url or LINK_INSTALL_URL",
        "parameters are spelt as in PowerShell",
    ),
    (
        "2 where are the releases? give -RepoUrl or LINK_INSTALL_URL",
        "parameters are spelt as in PowerShell",
    ),
    (
        "60 * does not run: add --repo-url URL, and a fresh one is downloaded to uninstall with",
        "parameters are spelt as in PowerShell",
    ),
    (
        "60 * does not run: add -RepoUrl URL, and a fresh one is downloaded to uninstall with",
        "parameters are spelt as in PowerShell",
    ),
];

pub(super) const ADVICE: &[(&str, &str)] = &[
    (
        "the proxy asks for a name and a password: set https_proxy=http://NAME:PASSWORD@HOST:PORT",
        "a variable is set in another way in PowerShell",
    ),
    (
        "the proxy asks for a name and a password: set *:HTTPS_PROXY = 'http://NAME:PASSWORD@HOST:PORT",
        "a variable is set in another way in PowerShell",
    ),
    (
        "this machine does not know who issued its certificate: if a proxy of your network opens TLS, ask \
         for its certificate and set CURL_CA_BUNDLE=FILE, or ca_certificate=FILE in ~/.wgetrc for wget; else \
         somebody listens in",
        "Windows has a store of certificates for each user",
    ),
    (
        "this machine does not know who issued its certificate: if a proxy of your network opens TLS, ask \
         for its certificate and add it to the trusted root certificates of this user; else somebody listens in",
        "Windows has a store of certificates for each user",
    ),
];

"""What Windows PowerShell 5.1 has: the commands with the parameters that a script of ours may use, the types of .NET
Framework 4.5 that .NET 8 also has, and the automatic variables. A name that is not listed here is a finding, so a list
grows by a decision and not by accident.
"""

# Parameters that every command of PowerShell has.
COMMON = {"erroraction"}

# A command that would read `[` and `*` in a path as a pattern has `-LiteralPath` only.
COMMANDS = {
    "copy-item": {"literalpath", "destination"},
    "foreach-object": set(),
    "get-childitem": {"literalpath", "directory", "force"},
    "get-content": {"literalpath", "tail"},
    "get-executionpolicy": {"list"},
    "get-filehash": {"literalpath", "algorithm"},
    "get-item": {"literalpath", "force"},
    "get-location": set(),
    "get-process": {"id"},
    "get-variable": {"name", "valueonly"},
    "join-path": set(),
    "new-item": {"itemtype", "path", "force"},
    "new-object": set(),
    "remove-item": {"literalpath", "recurse", "force"},
    "select-string": {"literalpath", "simplematch", "quiet"},
    "set-acl": {"literalpath", "aclobject"},
    "set-item": {"literalpath", "value"},
    "set-strictmode": {"version"},
    "split-path": {"parent"},
    "start-sleep": {"seconds"},
    "test-path": {"literalpath", "pathtype"},
    "where-object": set(),
    "write-debug": set(),
    "write-error": set(),
    "write-output": set(),
}
LITERAL = {name for name, known in COMMANDS.items() if "literalpath" in known}

ALIASES = set(
    """% ? ac cat cd chdir clc clear clp cls copy cp curl cvpa dir echo erase fl foreach ft gc gci gcm gi gm gp gps group
    gsv gu gv h iex ii irm iwr kill ls measure md mi mount move mp mv ni nv ogv pop popd ps pushd pwd r rd ren ri rm rmdir
    rni rp rv sal saps sasv select set si sl sleep sort sp spps start sv tee type wget where write""".split()
)

# Commands of which nothing good comes in an installer, each with the reason.
FORBIDDEN = {
    "invoke-expression": "runs text as a program",
    "iex": "runs text as a program",
    "add-type": "compiles or loads code",
    "set-executionpolicy": "changes the policy of the machine",
    "start-process": "opens a window, or hides one",
    "invoke-webrequest": "cannot resume, and is slow in Windows PowerShell 5.1",
    "invoke-restmethod": "cannot resume, and is slow in Windows PowerShell 5.1",
    "start-bitstransfer": "depends on a service that may be off",
    "expand-archive": "does not limit what an archive holds",
}

TYPES = set(
    """bool byte[] int[] diagnostics.process char char[] guid int long scriptblock string string[] ordered switch uri version bitconverter convert console
    datetime environment math unauthorizedaccessexception timeoutexception
    io.directory io.file io.ioexception io.filemode io.path io.compression.compressionmode
    microsoft.win32.registry microsoft.win32.registryvalueoptions
    net.credentialcache net.securityprotocoltype net.servicepointmanager net.webexception net.webrequest
    net.security.remotecertificatevalidationcallback net.sockets.socketexception
    security.authentication.authenticationexception security.authentication.sslprotocols
    security.principal.windowsidentity stringcomparison text.encoding""".split()
)

# Types that are created by name.
CREATED = set(
    """byte[] io.compression.gzipstream io.filestream net.networkcredential net.security.sslstream net.sockets.tcpclient
    net.webproxy security.accesscontrol.directorysecurity security.accesscontrol.filesystemaccessrule
    security.cryptography.sha256cryptoserviceprovider security.principal.securityidentifier timeoutexception
    uri""".split()
)

AUTOMATIC = set(
    """_ args errorActionPreference executioncontext false global:lastexitcode lastexitcode matches null pid
    progresspreference pscommandpath psnativecommanduseerroractionpreference psversiontable true""".lower().split()
)

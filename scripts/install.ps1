# Installs Link for this user, without admin rights, in Windows PowerShell 5.1 and in PowerShell 7.
#   $env:LINK_REGISTRATION_KEY = 'lrk_...'; irm https://HOST/install.ps1 | iex
#   & ([scriptblock]::Create((irm https://HOST/install.ps1))) -RepoUrl https://HOST -DryRun
#   powershell -File install.ps1 -Uninstall    Says "running scripts is disabled"? Then use a line above, which needs no script file.
# Downloads a release unless it is installed and intact, verifies it, and runs its `link`. `link --help` lists the exit codes.
# A script file ends with such a code. After `iex` the code is in $LASTEXITCODE, a failure is an exception, and the window stays open.
# The whole body is a function that the last line calls: a truncated copy runs nothing.
param(
  [string]$RepoUrl, [string]$Branch, [string]$Version, [string]$FleetKey, [string]$RegistrationKey,
  [switch]$NoModifyPath, [switch]$Completions, [switch]$DryRun, [switch]$Quiet, [switch]$Uninstall, [switch]$Force, [switch]$Purge, [switch]$Help
)

function Install-Link {
  if ($ExecutionContext.SessionState.LanguageMode -ne 'FullLanguage') { # Methods cannot be called here, not even to print.
    $global:LASTEXITCODE = 13
    Write-Error -ErrorAction Continue 'link-install: error: PowerShell runs in constrained language mode, which forbids what an installer does: ask the administrator of this machine to allow Link (App Control or AppLocker), or install where that policy does not hold'
    return
  }
  Set-StrictMode -Version 3.0
  $ErrorActionPreference = 'Stop'; $ProgressPreference = 'SilentlyContinue'; $PSNativeCommandUseErrorActionPreference = $false

  # ---- Decisions: no input but the arguments, no output but the result.

  function Select-First { foreach ($one in $args) { if ($one) { return [string]$one } }; return '' }

  # The architectures whose programs this machine runs, the best first. Windows 11 on ARM64 also runs x86-64.
  function Get-Architecture([string]$Machine, [int]$Build) {
    if ($Machine -eq 'AMD64') { return @('x86_64') }
    if ($Machine -ne 'ARM64') { return @() }
    if ($Build -ge 22000) { return @('aarch64', 'x86_64') }
    return @('aarch64')
  }

  # Why nothing is fetched from an address: its name, its way, or '' if it may be fetched.
  function Get-Refusal([string]$From) {
    if ($From -cmatch '^https?://[^/]*@') { return 'name' }
    if ($From -cmatch '^(https://|file://|http://(127\.0\.0\.1|localhost)[:/])' -and -not $From.Contains('"')) { return '' }
    return 'way'
  }

  # The archives of a release, or of one version of it. A list of checksums that is not well-formed has none.
  function Get-Archive([string]$Sums, [string]$Wanted) {
    $lines = @($Sums -replace "`r", '' -split "`n" | Where-Object { $_ -ne '' })
    foreach ($line in $lines) { if ($line -cnotmatch '^[0-9a-f]{64} +\*?[^ ]+$') { return } }
    foreach ($line in $lines) {
      if ($line -cnotmatch '^([0-9a-f]{64}) +\*?(link-(.+?)-([0-9A-Za-z_]+-(?:unknown-linux-gnu|apple-darwin|pc-windows-[a-z]+))\.tar\.gz)$') { continue }
      if ($Wanted -eq '' -or $Matches[3] -ceq $Wanted) { @{ Sum = $Matches[1]; Name = $Matches[2]; Version = $Matches[3]; Target = $Matches[4] } }
    }
  }
  # A target in words, such as `Windows on x86_64`.
  function Get-System([string]$Of) { return $Of -creplace '^(\w+)-.*-linux-.*', 'Linux on $1' -creplace '^(\w+)-.*-darwin$', 'macOS on $1' -creplace '^(\w+)-.*-windows-.*', 'Windows on $1' }

  # Whether the text begins a web page, which networks send that require a login.
  function Test-Page([string]$Text) { return ($Text -replace '[ \r\n\t]', '') -match '^(<!doctype|<html|<\?xml)' }

  # Whether a host is exempt from the proxy by a list such as `localhost,.example.org`.
  function Test-Direct([string]$HostName, [string]$List) {
    foreach ($one in $List -split '[, ]+') {
      $suffix = $one.TrimStart('*').TrimStart('.')
      if ($one -eq '*' -or ($suffix -and ($HostName -eq $suffix -or $HostName.EndsWith(".$suffix", 'OrdinalIgnoreCase')))) { return $true }
    }
    return $false
  }

  # Whether a value of PATH has the folder as an entry, which may be quoted, end with a backslash or name a variable.
  function Test-Entry([string]$Value, [string]$Folder) {
    foreach ($one in $Value -split ';') {
      if ([Environment]::ExpandEnvironmentVariables($one.Trim().Trim('"')).TrimEnd('\') -eq $Folder.TrimEnd('\')) { return $true }
    }
    return $false
  }

  # What to do about a failed download.
  function Get-Advice([string]$Fault) {
    switch ($Fault) {
      'proxy' { return '; the proxy asks for a name and a password: set $env:HTTPS_PROXY = ''http://NAME:PASSWORD@HOST:PORT''' }
      'clock' { return "; its certificate does not count at the time of this machine, $([DateTime]::UtcNow.ToString('yyyy-MM-dd HH:mm')) UTC: correct the clock; if that is right, the host needs a new certificate" }
      'name' { return '; another machine answers in the name of the host: does this network ask you to log in first? then open any page in a browser and try again' }
      'issuer' { return '; this machine does not know who issued its certificate: if a proxy of your network opens TLS, ask for its certificate and add it to the trusted root certificates of this user; else somebody listens in' }
      'tls' { return '; TLS failed: is the address right, and does this network ask you to log in first?' }
      'host' { return '; nobody knows this name: is the address right, and is there a network?' }
    }
    return ''
  }

  # ---- Failures: `$run` keeps the code and the message until the end.

  $run = @{ Code = 0; Message = ''; Fault = $null }
  function Stop-Install([int]$Code, [string]$Message) { $run.Code = $Code; $run.Message = $Message; throw 'link-install' }
  function Get-Cause($Failure) { while ($Failure) { $Failure; $Failure = $Failure.InnerException } }
  function Stop-Full([int]$Code, [string]$Message, $Failure) { # ends like Stop-Install, or with 14 if the disk is full
    foreach ($cause in @(Get-Cause $Failure)) {
      if ($cause.HResult -eq -2147024784 -or $cause.HResult -eq -2147024857) { Stop-Install 14 "the disk is full: $data" }
    }
    Stop-Install $Code $Message
  }
  function Write-Note([string]$Text) { if (-not $beQuiet) { [Console]::Error.WriteLine($Text) } }

  # ---- Programs. They get no input, because they must not read the rest of a script that is piped in.

  function Test-Program([string]$Program, [string[]]$Words) {
    $ErrorActionPreference = 'Continue' # Windows PowerShell takes every line on stderr for an error.
    if (-not (Test-Path -LiteralPath $Program -PathType Leaf)) { return $false }
    try { $null | & $Program @Words *> $null; return $LASTEXITCODE -eq 0 } catch { return $false }
  }
  function Invoke-Program([string]$Program, [string[]]$Words) {
    $ErrorActionPreference = 'Continue'
    $null | & $Program @Words
    if ($LASTEXITCODE -ne 0) { Stop-Install $LASTEXITCODE '' }
  }
  function Get-Installed([string]$Data) { # the current `link`; `current` is a folder, or a file with its path
    $pointer = Join-Path $Data 'current'
    if (-not (Test-Path -LiteralPath $pointer -PathType Leaf)) { return Join-Path $pointer 'link.exe' }
    $folder = [IO.File]::ReadAllText($pointer).Trim()
    if (-not [IO.Path]::IsPathRooted($folder)) { $folder = Join-Path $Data $folder }
    return Join-Path $folder 'link.exe'
  }

  # ---- Downloads

  function Get-Size([string]$File) { if (Test-Path -LiteralPath $File) { return (Get-Item -LiteralPath $File -Force).Length } else { return 0 } }
  function Get-Proxy([Uri]$Address) { # PowerShell 5.1 only knows the proxy of Windows, so the variables are read here.
    $value = Select-First $env:HTTPS_PROXY $env:ALL_PROXY
    if ($Address.Scheme -eq 'http' -or (Test-Direct $Address.Host (Select-First $env:NO_PROXY))) { return New-Object Net.WebProxy }
    if (-not $value) {
      $proxy = [Net.WebRequest]::DefaultWebProxy
      if ($proxy) { $proxy.Credentials = [Net.CredentialCache]::DefaultCredentials }
      return $proxy
    }
    if ($value -notmatch '://') { $value = "http://$value" }
    $given = [Uri]$value
    $proxy = New-Object Net.WebProxy($given.Host, $given.Port)
    $name, $password = $given.UserInfo -split ':', 2
    if ($name) { $proxy.Credentials = New-Object Net.NetworkCredential([Uri]::UnescapeDataString($name), [Uri]::UnescapeDataString([string]$password)) }
    return $proxy
  }
  function Open-Answer([string]$From, [long]$Had) { # the head of the answer; follows redirects from https to https only
    $address = [Uri]$From
    for ($hop = 0; $hop -lt 10; $hop++) {
      $request = [Net.WebRequest]::Create($address)
      $request.AllowAutoRedirect = $false
      $request.Timeout = 1000 * [Math]::Max(15, $stall)
      $request.UserAgent = 'link-install'
      $request.KeepAlive = $false # Otherwise the end of a stalled download would wait for its rest.
      $request.Proxy = Get-Proxy $address
      if ($Had -gt 0) { $request.AddRange([long]$Had) }
      $answer = $request.GetResponse()
      if ([int]$answer.StatusCode -lt 300) { return $answer }
      $next = New-Object Uri($address, [string]$answer.Headers['Location'])
      $answer.Close()
      if ($address.Scheme -ne 'https' -or $next.Scheme -ne 'https') { throw "the host redirects to $($next.Scheme)://$($next.Host), which is not followed" }
      $address = $next
    }
    throw 'the host redirects in a circle'
  }
  function Receive-Part([string]$From, [string]$To, [long]$Limit) { # one attempt, which resumes an interrupted one
    $had = Get-Size $To
    $answer = Open-Answer $From $had
    $file = $null; $shown = $false
    try {
      $mode = [IO.FileMode]::Create
      if ([int]$answer.StatusCode -eq 206) { $mode = [IO.FileMode]::Append } else { $had = 0 }
      $stream = $answer.GetResponseStream()
      $file = New-Object IO.FileStream($To, $mode)
      $buffer = New-Object byte[] 65536
      $began = [DateTime]::UtcNow; $quietSince = $began; $mark = $had; $size = $had; $next = $began.AddSeconds(2)
      while ($true) {
        $read = $stream.ReadAsync($buffer, 0, $buffer.Length)
        do {
          $come = $read.Wait(1000); $time = [DateTime]::UtcNow
          if ($size - $mark -ge 1024) { $mark = $size; $quietSince = $time }
          if (-not $come -and ($time - $quietSince).TotalSeconds -ge $stall) { throw (New-Object TimeoutException("less than 1 KiB came in $stall seconds")) }
          if ($time -ge $next -and -not $beQuiet -and -not [Console]::IsErrorRedirected) {
            [Console]::Error.Write("`r  $([long][Math]::Floor($size / 1024)) KiB "); $shown = $true; $next = $time.AddSeconds(1)
          }
        } until ($come)
        if ($read.Result -eq 0) { break }
        $file.Write($buffer, 0, $read.Result); $size += $read.Result
        if ($size -gt $Limit) { throw 'the file is larger than a release may be' }
        if (($time - $quietSince).TotalSeconds -ge $stall) { throw (New-Object TimeoutException("less than 1 KiB came in $stall seconds")) }
      }
      if ($answer.ContentLength -ge 0 -and $size - $had -lt $answer.ContentLength) { throw 'the connection was cut' }
    } finally {
      if ($file) { $file.Dispose() }
      $answer.Close()
      if ($shown) { [Console]::Error.Write("`r$(' ' * 20)`r") }
    }
  }
  function Get-Status($Failure) { # the status of a refused request, or 0
    foreach ($cause in @(Get-Cause $Failure)) {
      if ($cause -is [Net.WebException] -and $cause.Response) { return [int]$cause.Response.StatusCode }
      if ($cause.Message -match 'proxy.*\b407\b') { return 407 } # PowerShell 7 has no response for it.
    }
    return 0
  }
  function Get-CertificateFault([string]$HostName, [int]$Port) { # asks the host once more, to see what is wrong with its certificate
    $seen = @{ Fault = 'tls' }
    $socket = New-Object Net.Sockets.TcpClient
    try {
      if (-not $socket.ConnectAsync($HostName, $Port).Wait(5000)) { return 'tls' }
      $socket.ReceiveTimeout = 5000
      $look = {
        param($from, $certificate, $chain, $errors)
        $states = @($chain.ChainStatus | ForEach-Object { [string]$_.Status }) -join ' '
        if ($states -match 'NotTimeValid') { $seen.Fault = 'clock' }
        elseif ([string]$errors -match 'NameMismatch') { $seen.Fault = 'name' }
        elseif ([string]$errors -match 'ChainErrors') { $seen.Fault = 'issuer' }
        return $false # The certificate is looked at and never accepted.
      }.GetNewClosure()
      $stream = New-Object Net.Security.SslStream($socket.GetStream(), $false, [Net.Security.RemoteCertificateValidationCallback]$look)
      $stream.AuthenticateAsClient($HostName, $null, [Security.Authentication.SslProtocols]::Tls12, $false)
    } catch { Write-Debug $_.Exception.Message } finally { $socket.Close() }
    return $seen.Fault
  }
  function Get-Fault($Failure, [Uri]$Address) {
    if ((Get-Status $Failure) -eq 407) { return 'proxy' }
    foreach ($cause in @(Get-Cause $Failure)) {
      if ($cause -is [Net.Sockets.SocketException] -and @('HostNotFound', 'NoData', 'TryAgain') -contains [string]$cause.SocketErrorCode) { return 'host' }
      if ($cause -is [Net.WebException] -and [string]$cause.Status -match 'NameResolutionFailure') { return 'host' }
      if ($cause -is [Security.Authentication.AuthenticationException] -or ($cause -is [Net.WebException] -and [string]$cause.Status -match '^(TrustFailure|SecureChannelFailure)$')) {
        $proxy = Get-Proxy $Address
        if ($proxy -and -not $proxy.IsBypassed($Address)) { return 'tls' }
        return Get-CertificateFault $Address.Host $Address.Port
      }
    }
    return ''
  }
  function Receive-File([string]$From, [string]$Name, [long]$Limit) { # fails after three attempts in a row that stall or bring less than 1 KiB
    switch (Get-Refusal $From) {
      'name' { Stop-Install 12 "releases are fetched from a host that is named alone: $From" }
      'way' { Stop-Install 12 "releases are fetched over https:// or file:// only: $From" }
    }
    $to = Join-Path $tmp $Name
    $run.Fault = $null
    if ($From -cmatch '^file:') {
      $path = ([Uri]$From).LocalPath
      try {
        if (-not (Test-Path -LiteralPath $path -PathType Leaf)) { throw 'there is no such file' }
        if ((Get-Size $path) -gt $Limit) { throw 'the file is larger than a release may be' }
        Copy-Item -LiteralPath $path -Destination $to
        return $true
      } catch { $run.Fault = $_.Exception; return $false }
    }
    $tries = 3; $had = 0
    while ($true) {
      try { Receive-Part $From $to $Limit; return $true } catch { $run.Fault = $_.Exception }
      $status = Get-Status $run.Fault
      $stalled = @(Get-Cause $run.Fault | Where-Object { $_ -is [TimeoutException] }).Count -gt 0
      if ($status -eq 416) { Remove-Item -LiteralPath $to -Force } # The server cannot resume: start again.
      elseif (($status -ge 400 -and $status -lt 500) -or @(Get-Cause $run.Fault | Where-Object { $_ -is [UnauthorizedAccessException] }).Count -gt 0) { return $false }
      $now = Get-Size $to
      if ($stalled -or $now - $had -lt 1024) { $tries-- } else { $tries = 3 }
      $had = [Math]::Max($had, $now)
      if ($tries -eq 0 -or $now -gt $Limit) { return $false }
      if ($tries -lt 3) { Start-Sleep -Seconds 1 }
    }
  }
  function Get-Needed([string]$From, [string]$Name, [long]$Limit) {
    if (Receive-File $From $Name $Limit) { return }
    $why = ": $(@(Get-Cause $run.Fault)[-1].Message)"
    if ($From -cmatch '^http') { $why += Get-Advice (Get-Fault $run.Fault ([Uri]$From)) }
    Stop-Full 12 "cannot download $From$why" $run.Fault
  }
  function Read-Start([string]$Name) { # the first characters of a downloaded file
    $bytes = New-Object byte[] 200
    $file = [IO.File]::OpenRead((Join-Path $tmp $Name))
    try { return [Text.Encoding]::ASCII.GetString($bytes, 0, $file.Read($bytes, 0, 200)) } finally { $file.Dispose() }
  }
  function Get-Sum([string]$File) { # '' without a tool, because unverified files must not run
    try { return (Get-FileHash -LiteralPath $File -Algorithm SHA256).Hash.ToLowerInvariant() } catch { Write-Debug $_.Exception.Message }
    $stream = [IO.File]::OpenRead($File) # A session that PowerShell 7 has started may lack the command.
    try {
      $tool = New-Object Security.Cryptography.SHA256CryptoServiceProvider
      return [BitConverter]::ToString($tool.ComputeHash($stream)).Replace('-', '').ToLowerInvariant()
    } catch { return '' } finally { $stream.Dispose() }
  }

  # ---- The archive: at most 64 plain files of at most 512 MiB together. Everything else is refused.

  function Read-Full($Stream, [byte[]]$Buffer, [int]$Count) {
    for ($have = 0; $have -lt $Count; $have += $got) {
      $got = $Stream.Read($Buffer, $have, $Count - $have)
      if ($got -eq 0) { throw 'the archive is cut' }
    }
  }
  function Expand-Release([string]$Archive, [string]$To) {
    $gzip = New-Object IO.Compression.GZipStream([IO.File]::OpenRead($Archive), [IO.Compression.CompressionMode]::Decompress)
    try {
      $head = New-Object byte[] 512; $buffer = New-Object byte[] 65536; $files = 0; $total = 0
      while ($true) {
        Read-Full $gzip $head 512
        if ($head[0] -eq 0) { break }
        $text = [Text.Encoding]::ASCII.GetString($head)
        $name = $text.Substring(0, 100).TrimEnd([char]0)
        $length = $text.Substring(124, 12).Trim([char[]]@([char]0, [char]32))
        $files++
        if ($text.Substring(257, 5) -cne 'ustar' -or @(0, 48) -notcontains $head[156] -or $head[345] -ne 0 -or
          $name -cnotmatch '^[0-9A-Za-z][0-9A-Za-z_-]*(\.[0-9A-Za-z_-]+)*\z' -or $name -match '^(con|prn|aux|nul|com\d|lpt\d)(\.|$)' -or
          $length -cnotmatch '^[0-7]{1,11}\z' -or $files -gt 64) { throw 'an entry is not a plain file' }
        $left = [Convert]::ToInt64($length, 8); $total += $left
        if ($total -gt 536870912) { throw 'the files are larger than a release may be' }
        $pad = (512 - $left % 512) % 512
        $file = New-Object IO.FileStream((Join-Path $To $name), [IO.FileMode]::CreateNew)
        try {
          while ($left -gt 0) {
            $count = [int][Math]::Min($left, $buffer.Length)
            Read-Full $gzip $buffer $count
            $file.Write($buffer, 0, $count); $left -= $count
          }
        } finally { $file.Dispose() }
        Read-Full $gzip $head $pad
      }
    } finally { $gzip.Dispose() }
  }

  # ---- Folders

  function New-Private([string]$Folder) { # a new folder that only this user, the system and the administrators can open, wherever it is
    $null = New-Item -ItemType Directory -Path $Folder
    $rights = New-Object Security.AccessControl.DirectorySecurity
    $rights.SetAccessRuleProtection($true, $false)
    foreach ($who in @([Security.Principal.WindowsIdentity]::GetCurrent().User, (New-Object Security.Principal.SecurityIdentifier('S-1-5-18')), (New-Object Security.Principal.SecurityIdentifier('S-1-5-32-544')))) {
      $rights.AddAccessRule((New-Object Security.AccessControl.FileSystemAccessRule($who, 'FullControl', 'ContainerInherit,ObjectInherit', 'None', 'Allow')))
    }
    Set-Acl -LiteralPath $Folder -AclObject $rights
  }
  function Get-Run([string]$Data) { # the folders of this and of other runs
    if (Test-Path -LiteralPath $Data -PathType Container) { Get-ChildItem -LiteralPath $Data -Directory -Force | Where-Object { $_.Name -match '^\.install\.\d{1,9}$' } }
  }
  function Find-Made([string]$Data) { # the outermost folder that was or has to be created for the installation
    $outermost = ''; $folder = $Data
    while ($folder -and -not (Test-Path -LiteralPath $folder -PathType Container)) { $outermost = $folder; $folder = Split-Path -Parent $folder }
    foreach ($other in @(Get-Run $Data)) { # Another or a killed run may have created more parent folders than this run.
      $note = Join-Path $other.FullName 'made'
      if (-not (Test-Path -LiteralPath $note -PathType Leaf)) { continue }
      $old = [IO.File]::ReadAllText($note).Trim()
      if ($old -and ($outermost -eq '' -or $outermost.StartsWith("$old\", 'OrdinalIgnoreCase'))) { $outermost = $old }
    }
    return $outermost
  }
  function Remove-Stale([string]$Data) { # deletes what a killed run has left
    foreach ($old in @(Get-Run $Data)) {
      $number = [int]($old.Name -replace '\D', '')
      if ($number -eq $PID -or -not (Get-Process -Id $number -ErrorAction SilentlyContinue)) { Remove-Item -LiteralPath $old.FullName -Recurse -Force -ErrorAction SilentlyContinue }
    }
  }

  # ---- The run

  function Install-Release {
    if ($Uninstall) {
      if (-not (Test-Path -LiteralPath (Join-Path $data 'receipt.json')) -and -not (Test-Path -LiteralPath (Join-Path $data 'current'))) { Write-Note "Link is not installed in $data"; return }
      if ($DryRun) { Write-Note "would run: $installed $($ending -join ' ')"; return }
      if (Test-Program $installed @('self-check')) { Invoke-Program $installed $ending; return }
      if (-not $base) { Stop-Install 60 "$installed does not run: add -RepoUrl URL, and a fresh one is downloaded to uninstall with" }
    }
    if (-not $base) { Stop-Install 2 'where are the releases? give -RepoUrl or LINK_INSTALL_URL' }
    $key = 'HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Session Manager\Environment' # Tells the machine; the variables tell the process.
    $machine = Select-First ([Microsoft.Win32.Registry]::GetValue($key, 'PROCESSOR_ARCHITECTURE', '')) $env:PROCESSOR_ARCHITEW6432 $env:PROCESSOR_ARCHITECTURE
    $architectures = @(Get-Architecture $machine ([Environment]::OSVersion.Version.Build))
    if ($architectures.Count -eq 0) { Stop-Install 13 "this processor is not supported: $machine" }
    $target = "$($architectures[0])-pc-windows-msvc"
    try {
      $missing = @(); for ($above = $data; $above -and -not (Test-Path -LiteralPath $above -PathType Container); $above = Split-Path -Parent $above) { $missing = @($above) + $missing }; foreach ($one in $missing) { New-Private $one }
      Remove-Stale $data
      New-Private $tmp
      if ($made) { [IO.File]::WriteAllText((Join-Path $tmp 'made'), $made) }
    } catch { Stop-Full 11 "cannot write to $data" $_.Exception }

    Get-Needed "$base/SHA256SUMS" 'sums' 1048576
    $page = "$base answers with a web page and not with a release: does this network ask you to log in first? then open any page in a browser and try again"
    if (Test-Page (Read-Start 'sums')) { Stop-Install 20 $page }
    if (-not $wanted -and (Receive-File "$base/LATEST" 'latest' 1048576)) { $wanted = ([IO.File]::ReadAllText((Join-Path $tmp 'latest')) -split "`n")[0].Trim() }
    $all = @(Get-Archive ([IO.File]::ReadAllText((Join-Path $tmp 'sums'))) $wanted); $mine = @()
    foreach ($one in $architectures) { if ($mine.Count -eq 0) { $mine = @($all | Where-Object { $_.Target -clike "$one-pc-windows-*" }) } }
    $archive = $(if ($mine.Count -eq 1) { $mine[0] }); $has = [ordered]@{}; foreach ($one in $all) { $has[(Get-System $one.Target)] = $true }
    if ($has.Count -gt 0 -and $mine.Count -eq 0) { Stop-Install 13 "this release has no build for $(Get-System $target); it has builds for: $(@($has.Keys) -join ', ')" }
    if (-not $archive -and $wanted -cmatch '^[0-9A-Za-z.+-]+\z') { $asset = "link-$wanted-$target"; Stop-Install 20 "no single valid checksum for $asset in $base" }
    if (-not $archive -or $archive.Version -cnotmatch '^[0-9A-Za-z.+-]+\z') { Stop-Install 20 "$base does not say one version for $target" }

    $words = @('install-files', '--source', $base)
    if ($made) { $words += @('--made', $made) }
    $words += @('--archive', $archive.Sum)
    $link = $installed
    if ($Uninstall -or -not (Test-Program $installed @('self-check')) -or
      -not (Test-Program $installed @('verify-files', '--release', $archive.Version, '--archive', $archive.Sum))) {
      Write-Note "downloading Link $($archive.Version) for $($archive.Target)"
      $file = Join-Path $tmp 'asset'; $files = Join-Path $tmp 'files'; $contents = Join-Path $files 'contents.json'; $is = $archive.Target
      Get-Needed "$base/$($archive.Name)" 'asset' 536870912
      $sum = Get-Sum $file
      if (-not $sum) { Stop-Install 21 'no tool for SHA-256 (Get-FileHash or .NET)' }
      if ($sum -cne $archive.Sum) {
        if (Test-Page (Read-Start 'asset')) { Stop-Install 22 $page }
        Stop-Install 22 "$($archive.Name) does not have its checksum; nothing was installed"
      }
      try { $null = New-Item -ItemType Directory -Path $files; Expand-Release $file $files } catch {
        $cause = @(Get-Cause $_.Exception)[-1]; $why = ": $($cause.Message)"
        if ($cause -is [IO.IOException] -or $cause -is [UnauthorizedAccessException]) { Stop-Full 11 "cannot unpack $($archive.Name)$why" $cause }
        Stop-Install 24 "$($archive.Name) holds something else than a release, or more; nothing was installed"
      }
      if (Test-Program $installed @('self-check')) { Invoke-Program $installed @('verify-files', '--quiet', '--from', $files, '--release', $archive.Version) }
      if ((Test-Path -LiteralPath $contents -PathType Leaf) -and [IO.File]::ReadAllText($contents) -cmatch '\\"target\\":\\"([0-9A-Za-z_-]*)\\"') { $is = $Matches[1] }
      if ($is -cne $archive.Target) { Stop-Install 24 "$($archive.Name) holds programs for $(Get-System $is), and this machine is $(Get-System $target); nothing was installed" }
      $link = Join-Path $files 'link.exe'
      $words += @('--from', $files)
      if (-not (Test-Program $link @('self-check'))) { Stop-Install 23 "the downloaded program does not run here; if nothing may be run in $data, set $place to another folder" }
    }
    if ($Uninstall) { $words = $ending }
    if ($beQuiet) { $words += '--quiet' }
    if ($DryRun) { $words += '--dry-run' }
    Invoke-Program $link $words
    if (-not $DryRun -and -not $Uninstall) { Update-Session }
  }
  function Get-Profile { # the profile of this edition of PowerShell; '' where there is none, such as in a remote session
    $known = Get-Variable -Name PROFILE -ValueOnly -ErrorAction SilentlyContinue
    if ($known -and $known.PSObject.Properties['CurrentUserAllHosts']) { return [string]$known.CurrentUserAllHosts }
    return ''
  }
  function Use-Profile { # A profile that the policy forbids would only show an error in each new window.
    $policy = 'Restricted'; $scope = ''
    foreach ($one in @(Get-ExecutionPolicy -List)) { # The strongest scope first. That of this process ends with it.
      if ([string]$one.Scope -eq 'Process' -or [string]$one.ExecutionPolicy -eq 'Undefined') { continue }
      $policy = [string]$one.ExecutionPolicy; $scope = [string]$one.Scope
      break
    }
    $path = Select-First $env:LINK_POWERSHELL_PROFILE (Get-Profile)
    if (-not $path) { Write-Note 'the completions are not loaded: this session has no profile; run this in a window of PowerShell'; return }
    if (@('Restricted', 'AllSigned') -notcontains $policy) { $env:LINK_POWERSHELL_PROFILE = $path; return }
    $env:LINK_POWERSHELL_PROFILE = $null
    $cure = 'run Set-ExecutionPolicy -Scope CurrentUser RemoteSigned, then run the installer with -Completions again'
    if ($scope -match 'Policy$') { $cure = 'your organisation has decided so' }
    Write-Note "the completions are not loaded: with the execution policy $policy PowerShell does not run the profile of this user; $cure"
  }
  function Update-Session { # A new window has the user's PATH; this one gets the entry that the installer may have added.
    $settings = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment')
    if (-not $settings) { return }
    $value = [string]$settings.GetValue('Path', '', [Microsoft.Win32.RegistryValueOptions]::DoNotExpandEnvironmentNames)
    $settings.Close()
    if ((Test-Entry $value $bin) -and -not (Test-Entry $env:Path $bin)) { $env:Path = "$bin;$env:Path" }
  }

  if ($Help) {
    Write-Output @'
Usage: install.ps1 [OPTIONS]
  -RepoUrl URL         host of the releases, https:// or file://         [LINK_REPO_URL]
  -Branch NAME         folder of the channel below it, default stable    [LINK_BRANCH]
  -Version VERSION     version to install, default the newest            [LINK_VERSION]
  -FleetKey KEY        register with this fleet key                      [LINK_FLEET_KEY]
  -RegistrationKey KEY register with this registration key               [LINK_REGISTRATION_KEY]
  -NoModifyPath        leave the PATH of this user alone                 [LINK_NO_MODIFY_PATH=1]
  -Completions         complete commands in this edition of PowerShell: its profile loads them  [LINK_POWERSHELL_PROFILE]
  -DryRun, -Quiet      say what would be done and do nothing; say nothing but errors [LINK_QUIET=1]
  -Uninstall           deregister the device and delete everything; -Force: offline too; -Purge: the data of `link up` too
Environment: LINK_INSTALL_URL (one folder with a release), LINK_REGISTRATION_KEY or LINK_REGISTRATION_KEY_FILE, LINK_BACKEND_URL,
LINK_HOME (install below one folder), LINK_SERVICE (auto, none, task), LINK_MODIFY_PATH=1,
LINK_STALL_SECONDS (how long a download may bring less than 1 KiB/s, default 30).
'@
    $global:LASTEXITCODE = 0
    return
  }
  $before = @{} # Programs get keys by the environment, where other users cannot read them, and only while this runs.
  $names = @('LINK_FLEET_KEY', 'LINK_FLEET_KEY_FILE', 'LINK_REGISTRATION_KEY', 'LINK_REGISTRATION_KEY_FILE', 'LINK_NO_MODIFY_PATH', 'LINK_POWERSHELL_PROFILE', 'LINK_HOME', 'LINK_REPO_URL', 'LINK_INSTALL_URL', 'LINK_BACKEND_URL')
  foreach ($name in $names) { $before[$name] = [Environment]::GetEnvironmentVariable($name) }
  # Whoever serves this script puts its addresses here.
  $protocols = [Net.ServicePointManager]::SecurityProtocol
  $data = ''; $tmp = ''; $made = ''; $place = 'LINK_HOME'
  try {
    $beQuiet = $Quiet -or $env:LINK_QUIET -eq '1'
    if ($env:OS -ne 'Windows_NT') { Stop-Install 13 'this system is not supported: install.sh installs Link on Linux and macOS' }
    if ($PSVersionTable.PSVersion -lt [Version]'5.1') { Stop-Install 10 'PowerShell 5.1 or newer is needed: install Windows Management Framework 5.1' }
    $stall = [int](Select-First $env:LINK_STALL_SECONDS '30')
    if ($FleetKey) { $env:LINK_FLEET_KEY = $FleetKey; $env:LINK_FLEET_KEY_FILE = $null; $env:LINK_REGISTRATION_KEY = $null; $env:LINK_REGISTRATION_KEY_FILE = $null }
    if ($RegistrationKey) { $env:LINK_REGISTRATION_KEY = $RegistrationKey; $env:LINK_REGISTRATION_KEY_FILE = $null; if (-not $FleetKey) { $env:LINK_FLEET_KEY = $null; $env:LINK_FLEET_KEY_FILE = $null } }
    if ($NoModifyPath) { $env:LINK_NO_MODIFY_PATH = '1' }
    if ($Completions) { Use-Profile }
    if ($Uninstall) { $env:LINK_POWERSHELL_PROFILE = Select-First $env:LINK_POWERSHELL_PROFILE (Get-Profile) } # For a lost receipt.
    if ($env:LINK_HOME -and -not [IO.Path]::IsPathRooted($env:LINK_HOME)) { $env:LINK_HOME = Join-Path (Get-Location).ProviderPath $env:LINK_HOME }
    # Windows PowerShell offers old versions of TLS by default. PowerShell 7 does what the system says.
    if ($PSVersionTable.PSVersion.Major -lt 6) { [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12 }
    $base = [string]$env:LINK_INSTALL_URL
    $repo = Select-First $RepoUrl $env:LINK_REPO_URL
    if ($Branch -and $base -and -not $repo) { Stop-Install 2 "-Branch needs -RepoUrl: $base is one folder without branches; give -RepoUrl, or leave out -Branch" }
    if ($repo -and ($RepoUrl -or $Branch -or -not $base)) { $base = "$($repo.TrimEnd('/'))/$(Select-First $Branch $env:LINK_BRANCH 'stable')" }
    $base = $base.TrimEnd('/')
    $wanted = Select-First $Version $env:LINK_VERSION
    if ($env:LINK_HOME) { $data = Join-Path $env:LINK_HOME 'data'; $bin = Join-Path $env:LINK_HOME 'bin' }
    elseif ($env:LOCALAPPDATA -and $env:USERPROFILE) { $data = Join-Path $env:LOCALAPPDATA 'link'; $bin = Join-Path $env:USERPROFILE '.local\bin' }
    else { Stop-Install 11 'there is no profile of this user: set LINK_HOME to the folder to install in' }
    $installed = Get-Installed $data
    $ending = @('uninstall', '--yes')
    $ending += @(if ($Force) { '--force' }; if ($Purge) { '--purge' })
    if ($DryRun -and -not $Uninstall) { # Downloads and verifies a release, prints its plan, and deletes it.
      $place = 'TEMP'; $data = Join-Path ([IO.Path]::GetTempPath()) "link-$([guid]::NewGuid().ToString('N'))"
    } else { $made = Find-Made $data }
    $tmp = Join-Path $data ".install.$PID" # Here, because some systems forbid running programs in the temporary folder.
    Install-Release
  } catch {
    if ($run.Code -eq 0) { $run.Code = 1; $run.Message = "the installer failed at line $($_.InvocationInfo.ScriptLineNumber): $($_.Exception.Message)" }
  } finally {
    [Net.ServicePointManager]::SecurityProtocol = $protocols
    if ($run.Code -eq 0 -and -not $DryRun) { $before['LINK_FLEET_KEY'] = $null; $before['LINK_REGISTRATION_KEY'] = $null } # They were used.
    foreach ($name in $before.Keys) {
      if ($before[$name]) { Set-Item -LiteralPath "Env:\$name" -Value $before[$name] } else { Remove-Item -LiteralPath "Env:\$name" -ErrorAction SilentlyContinue }
    }
    if ($tmp -and (Test-Path -LiteralPath $tmp)) { Remove-Item -LiteralPath $tmp -Recurse -Force -ErrorAction SilentlyContinue }
    $last = if ($made) { Split-Path -Parent $made } elseif ($place -eq 'TEMP') { Split-Path -Parent $data } else { $data }
    while ($data -and $last -and $data -ne $last) { # Deletes the folders of this run that are empty.
      try { [IO.Directory]::Delete($data) } catch { break }
      $data = Split-Path -Parent $data
    }
  }
  $global:LASTEXITCODE = $run.Code
  if ($run.Code -eq 0) { return }
  $said = Select-First $run.Message "link ended with exit code $($run.Code); the reason is above"
  if (-not (Test-File)) { throw "link-install: error: $said" }
  [Console]::Error.WriteLine("link-install: error: $said")
}
function Test-File { return [bool]($PSCommandPath -and (Select-String -LiteralPath $PSCommandPath -SimpleMatch 'function Install-Link {' -Quiet)) }
Install-Link; if (Test-File) { exit $LASTEXITCODE }

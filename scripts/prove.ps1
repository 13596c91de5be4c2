# Proves on a Windows machine of yours what docs/platforms.md lists as not run, and prints a report to send back.
#   powershell -ExecutionPolicy Bypass -File prove.ps1 https://HOST/stable        the address of a folder with a release, https:// or file:///
# Installs the release into a folder of its own below the folder for temporary files, starts it, runs its commands and
# uninstalls it. Registers nothing unless LINK_REGISTRATION_KEY or LINK_FLEET_KEY is set.
# Exit codes: 0 every check passed, 1 a check failed, 2 wrong usage.
param([string]$From)

function Test-Link {
  if ($ExecutionContext.SessionState.LanguageMode -ne 'FullLanguage') { Write-Error -ErrorAction Continue 'prove: PowerShell runs in constrained language mode here'; $global:LASTEXITCODE = 2; return }
  Set-StrictMode -Version 3.0
  $ErrorActionPreference = 'Stop'; $ProgressPreference = 'SilentlyContinue'
  if ($From -cnotmatch '^(https://|file:///)') { Write-Output 'usage: powershell -ExecutionPolicy Bypass -File prove.ps1 FOLDER   FOLDER: the address of a folder with a release'; $global:LASTEXITCODE = 2; return }
  $base = $From.TrimEnd('/')
  $place = Join-Path ([IO.Path]::GetTempPath()) "link-prove-$([guid]::NewGuid().ToString('N'))"
  $homeFolder = Join-Path $place 'a home'
  $link = Join-Path $homeFolder 'bin\link.exe'
  $script = Join-Path $place 'install.ps1'
  $powershell = [Diagnostics.Process]::GetCurrentProcess().MainModule.FileName
  $count = @{ Passed = 0; Failed = 0; Skipped = 0 }

  function Invoke-Step([string]$Program, [string[]]$Words) { # the exit code; the last lines stand in `said`
    $ErrorActionPreference = 'Continue'
    $null | & $Program @Words *> (Join-Path $place 'said')
    return $LASTEXITCODE
  }
  function Write-Said {
    $said = Join-Path $place 'said'
    if (-not (Test-Path -LiteralPath $said)) { return }
    foreach ($line in @(Get-Content -LiteralPath $said -Tail 12)) {
      Write-Output "        $($line.Replace($place, 'PLACE').Replace($env:USERPROFILE, 'HOME') -replace 'l[rf]k_[0-9A-Za-z_-]*', 'KEY')"
    }
  }
  function Test-Step([string]$Title, [int[]]$Codes, [string]$Program, [string[]]$Words) {
    $code = Invoke-Step $Program $Words
    if ($Codes -contains $code) { $count.Passed++; Write-Output "ok    $Title"; return }
    $count.Failed++
    Write-Output "FAIL  ${Title}: exit code $code, not $($Codes -join ' ')"
    Write-Said
  }
  function Test-Fact([string]$Title, [bool]$Holds) {
    if ($Holds) { $count.Passed++; Write-Output "ok    $Title" } else { $count.Failed++; Write-Output "FAIL  $Title" }
  }
  function Get-Agent { # the process id of the agent, or 0
    $file = Join-Path $homeFolder 'state\agent.pid'
    if (-not (Test-Path -LiteralPath $file)) { return 0 }
    return [int][IO.File]::ReadAllText($file).Trim()
  }
  function Test-Alive([int]$Number) { return $Number -ne 0 -and [bool](Get-Process -Id $Number -ErrorAction SilentlyContinue) }

  $before = @{}
  foreach ($name in @('LINK_HOME', 'LINK_INSTALL_URL', 'LINK_SERVICE', 'LINK_NO_MODIFY_PATH')) { $before[$name] = [Environment]::GetEnvironmentVariable($name) }
  try {
    $null = New-Item -ItemType Directory -Path $place
    $env:LINK_HOME = $homeFolder; $env:LINK_INSTALL_URL = $base; $env:LINK_SERVICE = 'none'; $env:LINK_NO_MODIFY_PATH = '1'
    Write-Output 'Link, proved on a machine'
    Write-Output "system   Windows $([Environment]::OSVersion.Version), $env:PROCESSOR_ARCHITECTURE"
    Write-Output "shell    PowerShell $($PSVersionTable.PSVersion)"
    if ($base -cmatch '^file:') { Copy-Item -LiteralPath ([Uri]"$base/install.ps1").LocalPath -Destination $script }
    else {
      [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
      $answer = [Net.WebRequest]::Create("$base/install.ps1").GetResponse()
      $file = New-Object IO.FileStream($script, [IO.FileMode]::Create)
      try { $answer.GetResponseStream().CopyTo($file) } finally { $file.Dispose(); $answer.Close() }
    }
    $run = @('-NoProfile', '-File', $script)
    Test-Step 'a dry run installs nothing' @(0) $powershell ($run + '-DryRun')
    Test-Fact 'nothing is there after it' (-not (Test-Path -LiteralPath $homeFolder))
    Test-Step 'the release is installed' @(0) $powershell $run
    if (Test-Path -LiteralPath $link) {
      Test-Step 'the command runs' @(0) $link @('--version')
      Test-Fact 'the agent runs' (Test-Alive (Get-Agent))
      Test-Step 'its status is told' @(0, 30) $link @('status')
      Test-Step 'a second run finds everything intact' @(0) $powershell $run
      $old = Get-Agent
      Test-Step 'the agent is restarted' @(0) $link @('restart')
      Test-Fact 'it is another process' ((Test-Alive (Get-Agent)) -and (Get-Agent) -ne $old)
      Test-Step 'the agent is stopped' @(0) $link @('stop')
      Test-Step 'the agent is started' @(0) $link @('start')
      $old = Get-Agent
      Test-Step 'everything is uninstalled' @(0) $powershell ($run + '-Uninstall')
      Start-Sleep -Seconds 5
      Test-Fact 'no file is left' (-not (Test-Path -LiteralPath $homeFolder))
      Test-Fact 'no process is left' (-not (Test-Alive $old))
    }
  } finally {
    foreach ($name in $before.Keys) {
      if ($before[$name]) { Set-Item -LiteralPath "Env:\$name" -Value $before[$name] } else { Remove-Item -LiteralPath "Env:\$name" -ErrorAction SilentlyContinue }
    }
    Remove-Item -LiteralPath $place -Recurse -Force -ErrorAction SilentlyContinue
  }
  Write-Output "$($count.Passed) passed, $($count.Failed) failed, $($count.Skipped) skipped"
  $global:LASTEXITCODE = [int]($count.Failed -gt 0)
}
function Test-File { return [bool]($PSCommandPath -and (Select-String -LiteralPath $PSCommandPath -SimpleMatch 'function Test-Link {' -Quiet)) }
Test-Link; if (Test-File) { exit $LASTEXITCODE }

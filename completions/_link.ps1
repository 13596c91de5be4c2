
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'link' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'link'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'link' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('up', 'up', [CompletionResultType]::ParameterValue, 'Start your own backend on this machine, register this device with it and start the agent')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Open the dashboard and workspace of your own backend in a browser, logged in')
            [CompletionResult]::new('down', 'down', [CompletionResultType]::ParameterValue, 'Stop your own backend and the agent')
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register this device with a key')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the agent, its connection and its models')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Find what is wrong on this machine, and how to fix it')
            [CompletionResult]::new('start', 'start', [CompletionResultType]::ParameterValue, 'Start the agent')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop the agent; it serves no models while it is stopped')
            [CompletionResult]::new('restart', 'restart', [CompletionResultType]::ParameterValue, 'Stop the agent if it runs, then start it')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Update Link on this machine')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Deregister this device, stop the agent and delete the installation')
            [CompletionResult]::new('login', 'login', [CompletionResultType]::ParameterValue, 'Log in to a backend')
            [CompletionResult]::new('logout', 'logout', [CompletionResultType]::ParameterValue, 'Delete the login from this machine and revoke it')
            [CompletionResult]::new('whoami', 'whoami', [CompletionResultType]::ParameterValue, 'Show the user, the account and the backend of the login')
            [CompletionResult]::new('account', 'account', [CompletionResultType]::ParameterValue, 'Create the first account of a backend, list your accounts, switch between them')
            [CompletionResult]::new('member', 'member', [CompletionResultType]::ParameterValue, 'List, invite and remove the members of the account')
            [CompletionResult]::new('token', 'token', [CompletionResultType]::ParameterValue, 'Create, list and revoke personal access tokens for scripts')
            [CompletionResult]::new('audit', 'audit', [CompletionResultType]::ParameterValue, 'Show the audit log of the account')
            [CompletionResult]::new('usage', 'usage', [CompletionResultType]::ParameterValue, 'Show how much your models were used, by model, device or tag')
            [CompletionResult]::new('key', 'key', [CompletionResultType]::ParameterValue, 'Create, list and revoke the keys that devices register with')
            [CompletionResult]::new('device', 'device', [CompletionResultType]::ParameterValue, 'List, show, tag, update and remove devices')
            [CompletionResult]::new('logs', 'logs', [CompletionResultType]::ParameterValue, 'Show the log records of a device')
            [CompletionResult]::new('support', 'support', [CompletionResultType]::ParameterValue, 'Write one archive with what helps somebody else find a fault on this machine')
            [CompletionResult]::new('fleet', 'fleet', [CompletionResultType]::ParameterValue, 'List tags, and the devices of a tag')
            [CompletionResult]::new('commands', 'commands', [CompletionResultType]::ParameterValue, 'List the commands sent to devices, and explain their outcomes')
            [CompletionResult]::new('operation', 'operation', [CompletionResultType]::ParameterValue, 'Follow, cancel and retry operations on many devices')
            [CompletionResult]::new('model', 'model', [CompletionResultType]::ParameterValue, 'Add models, deploy them and serve them')
            [CompletionResult]::new('engine', 'engine', [CompletionResultType]::ParameterValue, 'List, install and remove the inference engine on this machine')
            [CompletionResult]::new('plugin', 'plugin', [CompletionResultType]::ParameterValue, 'Show, install and remove the plugins that serve models on this machine')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Chat with a model on this machine; deploys and serves it first where needed')
            [CompletionResult]::new('chat', 'chat', [CompletionResultType]::ParameterValue, 'Chat with a model that is served on this machine')
            [CompletionResult]::new('repair-serving', 'repair-serving', [CompletionResultType]::ParameterValue, 'Update the allowlist of a served model in place')
            [CompletionResult]::new('allowlist', 'allowlist', [CompletionResultType]::ParameterValue, 'Show and change the web origins that new deployments of the account allow')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script for a shell')
            [CompletionResult]::new('complete', 'complete', [CompletionResultType]::ParameterValue, 'Print the names that complete the last word')
            [CompletionResult]::new('reach', 'reach', [CompletionResultType]::ParameterValue, 'Ask a backend whether it can be reached from this process')
            [CompletionResult]::new('self-check', 'self-check', [CompletionResultType]::ParameterValue, 'Check that this program runs on this machine')
            [CompletionResult]::new('verify-files', 'verify-files', [CompletionResultType]::ParameterValue, 'Verify the signature of an unpacked release')
            [CompletionResult]::new('install-files', 'install-files', [CompletionResultType]::ParameterValue, 'Install an unpacked release, register the device and start the agent')
            [CompletionResult]::new('install-backend', 'install-backend', [CompletionResultType]::ParameterValue, 'Install the backend of an unpacked release and start it')
            [CompletionResult]::new('uninstall-backend', 'uninstall-backend', [CompletionResultType]::ParameterValue, 'Uninstall the backend')
            [CompletionResult]::new('refresh-files', 'refresh-files', [CompletionResultType]::ParameterValue, 'Write the completions and manual pages of this version')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;up' {
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port of the backend [default: its last port, or the first free port from 8000]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;open' {
            [CompletionResult]::new('--print', '--print', [CompletionResultType]::ParameterName, 'Print the address instead of opening a browser; it works once, within 30 seconds')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;down' {
            [CompletionResult]::new('--purge', '--purge', [CompletionResultType]::ParameterName, 'Also delete the backend''s data and this device''s registration and models')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;register' {
            [CompletionResult]::new('--registration-key', '--registration-key', [CompletionResultType]::ParameterName, 'Key for one device; `-` prompts for it, or reads it from a pipe')
            [CompletionResult]::new('--fleet-key', '--fleet-key', [CompletionResultType]::ParameterName, 'Key for many devices; `-` prompts for it, or reads it from a pipe')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'E-mail of a user, who is logged in first; prompts for the password')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Access token of a user, instead of a login; `-` reads it from stdin [default: LINK_ACCESS_TOKEN]')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, else the login''s, else the installation''s]')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name of the device in the dashboard [default: the host name]')
            [CompletionResult]::new('--device-id', '--device-id', [CompletionResultType]::ParameterName, 'Re-activate this device instead of creating a new one')
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the password from the next line of stdin')
            [CompletionResult]::new('--new-device', '--new-device', [CompletionResultType]::ParameterName, 'Create a new device even if this machine is registered')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;status' {
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Show the status again after each change, until Ctrl-C; with --json, one document per line')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Show the status again after each change, until Ctrl-C; with --json, one document per line')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;doctor' {
            [CompletionResult]::new('--origin', '--origin', [CompletionResultType]::ParameterName, 'Also ask each served model what a browser would ask for a page of this origin')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Fix what is safe to fix, then look again')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;start' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;stop' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;restart' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;update' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Version to install [default: the newest]')
            [CompletionResult]::new('--channel', '--channel', [CompletionResultType]::ParameterName, 'Least stable channel to accept: alpha, beta or stable [default: the installed one]')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Only check for a newer version')
            [CompletionResult]::new('--again', '--again', [CompletionResultType]::ParameterName, 'Also retry a version that was rolled back before')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;uninstall' {
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Delete everything even if the backend is unreachable, and print a retire code for it')
            [CompletionResult]::new('--purge', '--purge', [CompletionResultType]::ParameterName, 'Also delete the data of the backend of `link up`, with every account, device and model')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;login' {
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'Your e-mail [default: prompt]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait for the browser, such as `60s` or `5m`')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File with a personal access token on its first line; `-` reads it from stdin')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, else the login''s, else the installation''s]')
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the password from the first line of stdin')
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Approve this login in a browser, on this or another machine')
            [CompletionResult]::new('--no-browser', '--no-browser', [CompletionResultType]::ParameterName, 'Do not open a browser on this machine')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;logout' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;whoami' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create the first account with the backend''s setup token')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your accounts')
            [CompletionResult]::new('password', 'password', [CompletionResultType]::ParameterValue, 'Set a password for the backend of `link up`; this ends every login')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Switch to another account; later commands act in that account')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;account;create' {
            [CompletionResult]::new('--setup-token-file', '--setup-token-file', [CompletionResultType]::ParameterName, 'File that holds the setup token; `-` reads it from the first line of stdin')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'E-mail of the first user [default: prompt]')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, else the login''s, else the installation''s]')
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the password from the next line of stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account;password' {
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the password from the first line of stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account;use' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account;help' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create the first account with the backend''s setup token')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your accounts')
            [CompletionResult]::new('password', 'password', [CompletionResultType]::ParameterValue, 'Set a password for the backend of `link up`; this ends every login')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Switch to another account; later commands act in that account')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;account;help;create' {
            break
        }
        'link;account;help;list' {
            break
        }
        'link;account;help;password' {
            break
        }
        'link;account;help;use' {
            break
        }
        'link;account;help;help' {
            break
        }
        'link;member' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the members of the account and the open invitations')
            [CompletionResult]::new('invite', 'invite', [CompletionResultType]::ParameterValue, 'Create an invitation for one person; its token is shown only once')
            [CompletionResult]::new('accept', 'accept', [CompletionResultType]::ParameterValue, 'Accept an invitation and log in to its account')
            [CompletionResult]::new('role', 'role', [CompletionResultType]::ParameterValue, 'Change the role of a member')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a member, withdraw an invitation, or leave the account')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;member;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;member;invite' {
            [CompletionResult]::new('--role', '--role', [CompletionResultType]::ParameterName, 'Role of the new member')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'Only a user with this e-mail may accept [default: anyone with the token]')
            [CompletionResult]::new('--expires-at', '--expires-at', [CompletionResultType]::ParameterName, 'Expiry, such as `30d` or `2027-01-31` [default: in seven days]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;member;accept' {
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the invitation''s token; `-` reads it from the first line of stdin')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'E-mail of a new user to create [default: the logged-in user joins]')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, else the login''s, else the installation''s]')
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the new user''s password from the next line of stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;member;role' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;member;remove' {
            [CompletionResult]::new('--keys', '--keys', [CompletionResultType]::ParameterName, 'What to do with the registration and fleet keys that the member created [default: prompt; without a terminal, or with --yes, revoke]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;member;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the members of the account and the open invitations')
            [CompletionResult]::new('invite', 'invite', [CompletionResultType]::ParameterValue, 'Create an invitation for one person; its token is shown only once')
            [CompletionResult]::new('accept', 'accept', [CompletionResultType]::ParameterValue, 'Accept an invitation and log in to its account')
            [CompletionResult]::new('role', 'role', [CompletionResultType]::ParameterValue, 'Change the role of a member')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a member, withdraw an invitation, or leave the account')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;member;help;list' {
            break
        }
        'link;member;help;invite' {
            break
        }
        'link;member;help;accept' {
            break
        }
        'link;member;help;role' {
            break
        }
        'link;member;help;remove' {
            break
        }
        'link;member;help;help' {
            break
        }
        'link;token' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a personal access token for scripts; the token is shown only once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your tokens in this account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: every later request with it is refused')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;token;create' {
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name of the token in lists')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Scope of the token; may be given several times')
            [CompletionResult]::new('--expires-at', '--expires-at', [CompletionResultType]::ParameterName, 'Expiry, such as `30d` or `2027-01-31` [default: in 90 days]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;token;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;token;revoke' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;token;help' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a personal access token for scripts; the token is shown only once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your tokens in this account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: every later request with it is refused')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;token;help;create' {
            break
        }
        'link;token;help;list' {
            break
        }
        'link;token;help;revoke' {
            break
        }
        'link;token;help;help' {
            break
        }
        'link;audit' {
            [CompletionResult]::new('--action', '--action', [CompletionResultType]::ParameterName, 'Only this action, such as `member.remove`, or every action of a group, such as `member`')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Only actions of this user, token or device, by id; of a member also by e-mail')
            [CompletionResult]::new('--subject', '--subject', [CompletionResultType]::ParameterName, 'Only actions on this object, by id')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only entries at or after this time, such as `yesterday`, `2h` (two hours ago) or `2027-01-31`')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Only entries before this time')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Largest number of entries; the newest come first')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;usage' {
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'What the rows of the table are')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Only the usage of this model, by name or id')
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Only the usage on this device, by name or id')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'From this time, such as `today`, `12h` (twelve hours ago) or `2027-01-31` [default: 30 days ago]')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Until this time [default: now]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;key' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a key; the key is shown only once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the keys of the account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a key: no device can register with it afterwards')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;key;create' {
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Kind of the key: for one device, or for many')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name of the key in lists')
            [CompletionResult]::new('--expires-at', '--expires-at', [CompletionResultType]::ParameterName, 'Expiry, such as `30d` or `2027-01-31` [default: never]')
            [CompletionResult]::new('--max-devices', '--max-devices', [CompletionResultType]::ParameterName, 'Largest number of devices that a fleet key may register')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Tag for the devices that the key registers; may be given several times')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;key;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;key;revoke' {
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;key;help' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a key; the key is shown only once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the keys of the account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a key: no device can register with it afterwards')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;key;help;create' {
            break
        }
        'link;key;help;list' {
            break
        }
        'link;key;help;revoke' {
            break
        }
        'link;key;help;help' {
            break
        }
        'link;device' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the devices of the account')
            [CompletionResult]::new('rename', 'rename', [CompletionResultType]::ParameterValue, 'Rename a device')
            [CompletionResult]::new('tag', 'tag', [CompletionResultType]::ParameterValue, 'Add tags to a device')
            [CompletionResult]::new('untag', 'untag', [CompletionResultType]::ParameterValue, 'Remove tags from a device')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one device')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Replace the agent of a device with another version; an offline device updates later')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a device from the account')
            [CompletionResult]::new('transfer', 'transfer', [CompletionResultType]::ParameterValue, 'Transfer a device to another account, with a key of that account')
            [CompletionResult]::new('retire', 'retire', [CompletionResultType]::ParameterValue, 'Remove a device that was uninstalled while the backend was unreachable; needs no login')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;device;list' {
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Only devices that match, such as `tag=lab,state=online`')
            [CompletionResult]::new('--search', '--search', [CompletionResultType]::ParameterName, 'Only devices with this text in their name, at the beginning of their id, or as a tag')
            [CompletionResult]::new('--sort', '--sort', [CompletionResultType]::ParameterName, 'Order of the list; a leading `-` reverses it')
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Show the list again after each change, until Ctrl-C; with --json, one document per line')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Show the list again after each change, until Ctrl-C; with --json, one document per line')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;rename' {
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;tag' {
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;untag' {
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;update' {
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Version to install')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;remove' {
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;transfer' {
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'File with the registration or fleet key of the receiving account; `-` reads it from stdin [default: prompt]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;retire' {
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, else the login''s, else the installation''s]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the devices of the account')
            [CompletionResult]::new('rename', 'rename', [CompletionResultType]::ParameterValue, 'Rename a device')
            [CompletionResult]::new('tag', 'tag', [CompletionResultType]::ParameterValue, 'Add tags to a device')
            [CompletionResult]::new('untag', 'untag', [CompletionResultType]::ParameterValue, 'Remove tags from a device')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one device')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Replace the agent of a device with another version; an offline device updates later')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a device from the account')
            [CompletionResult]::new('transfer', 'transfer', [CompletionResultType]::ParameterValue, 'Transfer a device to another account, with a key of that account')
            [CompletionResult]::new('retire', 'retire', [CompletionResultType]::ParameterValue, 'Remove a device that was uninstalled while the backend was unreachable; needs no login')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;device;help;list' {
            break
        }
        'link;device;help;rename' {
            break
        }
        'link;device;help;tag' {
            break
        }
        'link;device;help;untag' {
            break
        }
        'link;device;help;show' {
            break
        }
        'link;device;help;update' {
            break
        }
        'link;device;help;remove' {
            break
        }
        'link;device;help;transfer' {
            break
        }
        'link;device;help;retire' {
            break
        }
        'link;device;help;help' {
            break
        }
        'link;logs' {
            [CompletionResult]::new('--severity', '--severity', [CompletionResultType]::ParameterName, 'Only records at least this severe')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Only records that name this model, by id or name; with --local also the log of its engine')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Largest number of records, or of lines with --local; the newest come last')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Largest number of records, or of lines with --local; the newest come last')
            [CompletionResult]::new('--tail', '--tail', [CompletionResultType]::ParameterName, 'Largest number of records, or of lines with --local; the newest come last')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'With --local: only lines about this request, by the value of its header X-Request-Id')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Print new records as they arrive, until Ctrl-C')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Print new records as they arrive, until Ctrl-C')
            [CompletionResult]::new('--local', '--local', [CompletionResultType]::ParameterName, 'Read the logs on this machine, of the agent, its guard and the engines, instead of the records at the backend')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;support' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Archive to write [default: link-support-TIME.tar.gz in this folder]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'Only list what the archive would hold')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;fleet' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the account''s tags, with their online devices and agent versions')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'List the devices with a tag')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;fleet;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;fleet;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;fleet;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the account''s tags, with their online devices and agent versions')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'List the devices with a tag')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;fleet;help;list' {
            break
        }
        'link;fleet;help;show' {
            break
        }
        'link;fleet;help;help' {
            break
        }
        'link;commands' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the commands sent to devices, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a command and its result')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain the state of a command, its cause, and what happens next')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;commands;list' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Only commands to this device, by id or name')
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'Only commands of this type')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Largest number of commands')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Only commands that have not ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;commands;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;commands;explain' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;commands;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the commands sent to devices, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a command and its result')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain the state of a command, its cause, and what happens next')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;commands;help;list' {
            break
        }
        'link;commands;help;show' {
            break
        }
        'link;commands;help;explain' {
            break
        }
        'link;commands;help;help' {
            break
        }
        'link;operation' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List operations, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show an operation and its result on each device')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Send no further command of an operation; devices whose command was sent continue, offline ones when they are back')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Retry an operation on the devices that failed')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until an operation ends, and show its results')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;operation;list' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'Largest number of operations')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;operation;show' {
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'Only devices in this state: pending, sent, succeeded, failed, skipped or cancelled')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;operation;cancel' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;operation;retry' {
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;operation;wait' {
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;operation;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List operations, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show an operation and its result on each device')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Send no further command of an operation; devices whose command was sent continue, offline ones when they are back')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Retry an operation on the devices that failed')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until an operation ends, and show its results')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;operation;help;list' {
            break
        }
        'link;operation;help;show' {
            break
        }
        'link;operation;help;cancel' {
            break
        }
        'link;operation;help;retry' {
            break
        }
        'link;operation;help;wait' {
            break
        }
        'link;operation;help;help' {
            break
        }
        'link;model' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the models that you may deploy; shared models show their publisher')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Search the catalogue of models; without words, list every model')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a model from the catalogue, a file, or a URL that devices download from')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a model and its deployments, or a model of the catalogue')
            [CompletionResult]::new('deploy', 'deploy', [CompletionResultType]::ParameterValue, 'Deploy a model to a device, or redeploy it with the current allowlist')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve a deployed model')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop serving a model; the model stays deployed')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a model from a device; the model can be deployed again')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Cancel an unfinished deployment')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete a model that is not deployed anywhere')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;model;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;search' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;add' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'URL that devices download the file from; the backend keeps no copy')
            [CompletionResult]::new('--sha256', '--sha256', [CompletionResultType]::ParameterName, 'SHA-256 of the file at the URL [default: prompt, or pin the current file]')
            [CompletionResult]::new('--size', '--size', [CompletionResultType]::ParameterName, 'Size of the file at the URL in bytes [default: the server''s answer]')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name of the model [default: the file name without its extension]')
            [CompletionResult]::new('--file-name', '--file-name', [CompletionResultType]::ParameterName, 'Name of the file on devices [default: the file''s own name]')
            [CompletionResult]::new('--plugin', '--plugin', [CompletionResultType]::ParameterName, 'Plugin whose engine runs the model')
            [CompletionResult]::new('--shared', '--shared', [CompletionResultType]::ParameterName, 'Let every account of the backend deploy the model as `publisher/name`, if the backend''s configuration lets this account share')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;deploy' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or name [default: this machine]')
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port to serve on [default: the port of the last deployment, or 8080]')
            [CompletionResult]::new('--alias', '--alias', [CompletionResultType]::ParameterName, 'Name of the model in requests [default: that of the last deployment, or derived from the model''s name]')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Value for a setting of the model''s plugin; repeat it for more [default: the settings of the last deployment]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--serve', '--serve', [CompletionResultType]::ParameterName, 'Serve the model as soon as it is downloaded')
            [CompletionResult]::new('--no-cors', '--no-cors', [CompletionResultType]::ParameterName, 'Let no web page call the model, until a deployment with `--cors`')
            [CompletionResult]::new('--cors', '--cors', [CompletionResultType]::ParameterName, 'Let web pages of the allowlist call the model again')
            [CompletionResult]::new('--no-telemetry', '--no-telemetry', [CompletionResultType]::ParameterName, 'Do not report the token usage of inferences, until a deployment with `--telemetry`')
            [CompletionResult]::new('--telemetry', '--telemetry', [CompletionResultType]::ParameterName, 'Report the token usage of inferences again')
            [CompletionResult]::new('--reset', '--reset', [CompletionResultType]::ParameterName, 'Drop the settings of the last deployment')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;serve' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or name [default: this machine]')
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port to serve on from now on [default: the current port]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;stop' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or name [default: this machine]')
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;remove' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or name [default: this machine]')
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;cancel' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or name [default: this machine]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;delete' {
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the models that you may deploy; shared models show their publisher')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Search the catalogue of models; without words, list every model')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a model from the catalogue, a file, or a URL that devices download from')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a model and its deployments, or a model of the catalogue')
            [CompletionResult]::new('deploy', 'deploy', [CompletionResultType]::ParameterValue, 'Deploy a model to a device, or redeploy it with the current allowlist')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve a deployed model')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop serving a model; the model stays deployed')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a model from a device; the model can be deployed again')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Cancel an unfinished deployment')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete a model that is not deployed anywhere')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;model;help;list' {
            break
        }
        'link;model;help;search' {
            break
        }
        'link;model;help;add' {
            break
        }
        'link;model;help;show' {
            break
        }
        'link;model;help;deploy' {
            break
        }
        'link;model;help;serve' {
            break
        }
        'link;model;help;stop' {
            break
        }
        'link;model;help;remove' {
            break
        }
        'link;model;help;cancel' {
            break
        }
        'link;model;help;delete' {
            break
        }
        'link;model;help;help' {
            break
        }
        'link;engine' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the installed builds of the inference engine, and why each was chosen')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a build of the inference engine and switch to it')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Switch to another installed build of the inference engine')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a build of the inference engine')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs engine indexes, in addition to the release keys')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;engine;list' {
            [CompletionResult]::new('--plugin', '--plugin', [CompletionResultType]::ParameterName, 'Plugin that runs the engine')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;install' {
            [CompletionResult]::new('--sha256', '--sha256', [CompletionResultType]::ParameterName, 'Expected SHA-256 of the archive')
            [CompletionResult]::new('--build', '--build', [CompletionResultType]::ParameterName, 'Name of the build [default: the version that the engine reports, or the best build in the engine index]')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Folder with an engine index, on a web server (https) or on this machine (file://)')
            [CompletionResult]::new('--plugin', '--plugin', [CompletionResultType]::ParameterName, 'Plugin that runs the engine')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;use' {
            [CompletionResult]::new('--plugin', '--plugin', [CompletionResultType]::ParameterName, 'Plugin that runs the engine')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;remove' {
            [CompletionResult]::new('--plugin', '--plugin', [CompletionResultType]::ParameterName, 'Plugin that runs the engine')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;trust' {
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'Key to stop trusting')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List the keys that were added on this machine')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the installed builds of the inference engine, and why each was chosen')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a build of the inference engine and switch to it')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Switch to another installed build of the inference engine')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a build of the inference engine')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs engine indexes, in addition to the release keys')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;engine;help;list' {
            break
        }
        'link;engine;help;install' {
            break
        }
        'link;engine;help;use' {
            break
        }
        'link;engine;help;remove' {
            break
        }
        'link;engine;help;trust' {
            break
        }
        'link;engine;help;help' {
            break
        }
        'link;plugin' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the plugins that this machine can serve models with')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show what a plugin runs, serves, counts and offers')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write the folder of a new plugin, which works as it is')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check a plugin''s folder, and test its engine, without installing the plugin')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a plugin by its id, from its folder, or from a signed archive')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs the archives of plugins, in addition to the release keys')
            [CompletionResult]::new('key', 'key', [CompletionResultType]::ParameterValue, 'Make a key that signs the archives of your plugins, and print its public half')
            [CompletionResult]::new('pack', 'pack', [CompletionResultType]::ParameterValue, 'Pack a plugin''s folder into an archive that other people can verify and install')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a plugin that was installed on this machine')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;plugin;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;plugin;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;plugin;new' {
            [CompletionResult]::new('--language', '--language', [CompletionResultType]::ParameterName, 'Language of the engine')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;plugin;check' {
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the engine may take until it is healthy')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;plugin;install' {
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Folder with published plugins, on a web server (https) or on this machine (file://), for an id')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;plugin;trust' {
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'Key to stop trusting')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List the keys that were added on this machine')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;plugin;key' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;plugin;pack' {
            [CompletionResult]::new('--sign-with', '--sign-with', [CompletionResultType]::ParameterName, 'File of the key that signs the archive, made by `link plugin key`')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Folder for the archive and its signature')
            [CompletionResult]::new('--serial', '--serial', [CompletionResultType]::ParameterName, 'Serial number, higher than that of an earlier archive of the plugin [default: the Unix time]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;plugin;remove' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;plugin;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the plugins that this machine can serve models with')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show what a plugin runs, serves, counts and offers')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write the folder of a new plugin, which works as it is')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check a plugin''s folder, and test its engine, without installing the plugin')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a plugin by its id, from its folder, or from a signed archive')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs the archives of plugins, in addition to the release keys')
            [CompletionResult]::new('key', 'key', [CompletionResultType]::ParameterValue, 'Make a key that signs the archives of your plugins, and print its public half')
            [CompletionResult]::new('pack', 'pack', [CompletionResultType]::ParameterValue, 'Pack a plugin''s folder into an archive that other people can verify and install')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a plugin that was installed on this machine')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;plugin;help;list' {
            break
        }
        'link;plugin;help;show' {
            break
        }
        'link;plugin;help;new' {
            break
        }
        'link;plugin;help;check' {
            break
        }
        'link;plugin;help;install' {
            break
        }
        'link;plugin;help;trust' {
            break
        }
        'link;plugin;help;key' {
            break
        }
        'link;plugin;help;pack' {
            break
        }
        'link;plugin;help;remove' {
            break
        }
        'link;plugin;help;help' {
            break
        }
        'link;run' {
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port to serve on [default: the port of the last deployment, or 8080]')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'System prompt')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'Sampling temperature, from 0 to 10 [default: the engine''s]')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'Largest number of tokens in an answer [default: the engine''s]')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the sampling [default: random]')
            [CompletionResult]::new('--anyway', '--anyway', [CompletionResultType]::ParameterName, 'Continue even if the model needs more memory than this machine has')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;chat' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or name, which must be this machine [default: this machine]')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'System prompt')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'Sampling temperature, from 0 to 10 [default: the engine''s]')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'Largest number of tokens in an answer [default: the engine''s]')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the sampling [default: random]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;repair-serving' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or name [default: this machine]')
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Selection of devices, such as `tag=lab,state=online`, instead of one device; the backend runs it as an operation, which continues when this command ends')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port to serve on from now on [default: the current port]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Longest wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show the devices that match, and change nothing')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the work has ended')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;allowlist' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the account''s origins and the backend''s defaults')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add an origin for this account; deployed models need a repair or a redeployment to get it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove an origin of this account')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;allowlist;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;allowlist;add' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;allowlist;remove' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;allowlist;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the account''s origins and the backend''s defaults')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add an origin for this account; deployed models need a repair or a redeployment to get it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove an origin of this account')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;allowlist;help;list' {
            break
        }
        'link;allowlist;help;add' {
            break
        }
        'link;allowlist;help;remove' {
            break
        }
        'link;allowlist;help;help' {
            break
        }
        'link;completions' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;complete' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;reach' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;self-check' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;verify-files' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Folder of the unpacked release [default: the intact installation]')
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'SHA-256 of the archive that the folder was unpacked from')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'Version that the release must have')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Verify the backend instead of the agent')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;install-files' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Folder that holds `link` and `link-agent` [default: the intact installation]')
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'SHA-256 of the archive that the folder was unpacked from')
            [CompletionResult]::new('--made', '--made', [CompletionResultType]::ParameterName, 'Outermost folder that was created for this installation')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'URL of the folder that later releases come from')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the steps without taking them')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;install-backend' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Folder that holds `link` and `link-agent` [default: the intact installation]')
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'SHA-256 of the archive that the folder was unpacked from')
            [CompletionResult]::new('--made', '--made', [CompletionResultType]::ParameterName, 'Outermost folder that was created for this installation')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'URL of the folder that later releases come from')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the steps without taking them')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;uninstall-backend' {
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask for confirmation')
            [CompletionResult]::new('--purge', '--purge', [CompletionResultType]::ParameterName, 'Also delete the data and the configuration')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;refresh-files' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Print whole ids and texts in tables')
            [CompletionResult]::new('--utc', '--utc', [CompletionResultType]::ParameterName, 'Print exact times (UTC) instead of relative ones')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;help' {
            [CompletionResult]::new('up', 'up', [CompletionResultType]::ParameterValue, 'Start your own backend on this machine, register this device with it and start the agent')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Open the dashboard and workspace of your own backend in a browser, logged in')
            [CompletionResult]::new('down', 'down', [CompletionResultType]::ParameterValue, 'Stop your own backend and the agent')
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register this device with a key')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the agent, its connection and its models')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Find what is wrong on this machine, and how to fix it')
            [CompletionResult]::new('start', 'start', [CompletionResultType]::ParameterValue, 'Start the agent')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop the agent; it serves no models while it is stopped')
            [CompletionResult]::new('restart', 'restart', [CompletionResultType]::ParameterValue, 'Stop the agent if it runs, then start it')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Update Link on this machine')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Deregister this device, stop the agent and delete the installation')
            [CompletionResult]::new('login', 'login', [CompletionResultType]::ParameterValue, 'Log in to a backend')
            [CompletionResult]::new('logout', 'logout', [CompletionResultType]::ParameterValue, 'Delete the login from this machine and revoke it')
            [CompletionResult]::new('whoami', 'whoami', [CompletionResultType]::ParameterValue, 'Show the user, the account and the backend of the login')
            [CompletionResult]::new('account', 'account', [CompletionResultType]::ParameterValue, 'Create the first account of a backend, list your accounts, switch between them')
            [CompletionResult]::new('member', 'member', [CompletionResultType]::ParameterValue, 'List, invite and remove the members of the account')
            [CompletionResult]::new('token', 'token', [CompletionResultType]::ParameterValue, 'Create, list and revoke personal access tokens for scripts')
            [CompletionResult]::new('audit', 'audit', [CompletionResultType]::ParameterValue, 'Show the audit log of the account')
            [CompletionResult]::new('usage', 'usage', [CompletionResultType]::ParameterValue, 'Show how much your models were used, by model, device or tag')
            [CompletionResult]::new('key', 'key', [CompletionResultType]::ParameterValue, 'Create, list and revoke the keys that devices register with')
            [CompletionResult]::new('device', 'device', [CompletionResultType]::ParameterValue, 'List, show, tag, update and remove devices')
            [CompletionResult]::new('logs', 'logs', [CompletionResultType]::ParameterValue, 'Show the log records of a device')
            [CompletionResult]::new('support', 'support', [CompletionResultType]::ParameterValue, 'Write one archive with what helps somebody else find a fault on this machine')
            [CompletionResult]::new('fleet', 'fleet', [CompletionResultType]::ParameterValue, 'List tags, and the devices of a tag')
            [CompletionResult]::new('commands', 'commands', [CompletionResultType]::ParameterValue, 'List the commands sent to devices, and explain their outcomes')
            [CompletionResult]::new('operation', 'operation', [CompletionResultType]::ParameterValue, 'Follow, cancel and retry operations on many devices')
            [CompletionResult]::new('model', 'model', [CompletionResultType]::ParameterValue, 'Add models, deploy them and serve them')
            [CompletionResult]::new('engine', 'engine', [CompletionResultType]::ParameterValue, 'List, install and remove the inference engine on this machine')
            [CompletionResult]::new('plugin', 'plugin', [CompletionResultType]::ParameterValue, 'Show, install and remove the plugins that serve models on this machine')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Chat with a model on this machine; deploys and serves it first where needed')
            [CompletionResult]::new('chat', 'chat', [CompletionResultType]::ParameterValue, 'Chat with a model that is served on this machine')
            [CompletionResult]::new('repair-serving', 'repair-serving', [CompletionResultType]::ParameterValue, 'Update the allowlist of a served model in place')
            [CompletionResult]::new('allowlist', 'allowlist', [CompletionResultType]::ParameterValue, 'Show and change the web origins that new deployments of the account allow')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script for a shell')
            [CompletionResult]::new('complete', 'complete', [CompletionResultType]::ParameterValue, 'Print the names that complete the last word')
            [CompletionResult]::new('reach', 'reach', [CompletionResultType]::ParameterValue, 'Ask a backend whether it can be reached from this process')
            [CompletionResult]::new('self-check', 'self-check', [CompletionResultType]::ParameterValue, 'Check that this program runs on this machine')
            [CompletionResult]::new('verify-files', 'verify-files', [CompletionResultType]::ParameterValue, 'Verify the signature of an unpacked release')
            [CompletionResult]::new('install-files', 'install-files', [CompletionResultType]::ParameterValue, 'Install an unpacked release, register the device and start the agent')
            [CompletionResult]::new('install-backend', 'install-backend', [CompletionResultType]::ParameterValue, 'Install the backend of an unpacked release and start it')
            [CompletionResult]::new('uninstall-backend', 'uninstall-backend', [CompletionResultType]::ParameterValue, 'Uninstall the backend')
            [CompletionResult]::new('refresh-files', 'refresh-files', [CompletionResultType]::ParameterValue, 'Write the completions and manual pages of this version')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;help;up' {
            break
        }
        'link;help;open' {
            break
        }
        'link;help;down' {
            break
        }
        'link;help;register' {
            break
        }
        'link;help;status' {
            break
        }
        'link;help;doctor' {
            break
        }
        'link;help;start' {
            break
        }
        'link;help;stop' {
            break
        }
        'link;help;restart' {
            break
        }
        'link;help;update' {
            break
        }
        'link;help;uninstall' {
            break
        }
        'link;help;login' {
            break
        }
        'link;help;logout' {
            break
        }
        'link;help;whoami' {
            break
        }
        'link;help;account' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create the first account with the backend''s setup token')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your accounts')
            [CompletionResult]::new('password', 'password', [CompletionResultType]::ParameterValue, 'Set a password for the backend of `link up`; this ends every login')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Switch to another account; later commands act in that account')
            break
        }
        'link;help;account;create' {
            break
        }
        'link;help;account;list' {
            break
        }
        'link;help;account;password' {
            break
        }
        'link;help;account;use' {
            break
        }
        'link;help;member' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the members of the account and the open invitations')
            [CompletionResult]::new('invite', 'invite', [CompletionResultType]::ParameterValue, 'Create an invitation for one person; its token is shown only once')
            [CompletionResult]::new('accept', 'accept', [CompletionResultType]::ParameterValue, 'Accept an invitation and log in to its account')
            [CompletionResult]::new('role', 'role', [CompletionResultType]::ParameterValue, 'Change the role of a member')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a member, withdraw an invitation, or leave the account')
            break
        }
        'link;help;member;list' {
            break
        }
        'link;help;member;invite' {
            break
        }
        'link;help;member;accept' {
            break
        }
        'link;help;member;role' {
            break
        }
        'link;help;member;remove' {
            break
        }
        'link;help;token' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a personal access token for scripts; the token is shown only once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your tokens in this account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: every later request with it is refused')
            break
        }
        'link;help;token;create' {
            break
        }
        'link;help;token;list' {
            break
        }
        'link;help;token;revoke' {
            break
        }
        'link;help;audit' {
            break
        }
        'link;help;usage' {
            break
        }
        'link;help;key' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a key; the key is shown only once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the keys of the account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a key: no device can register with it afterwards')
            break
        }
        'link;help;key;create' {
            break
        }
        'link;help;key;list' {
            break
        }
        'link;help;key;revoke' {
            break
        }
        'link;help;device' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the devices of the account')
            [CompletionResult]::new('rename', 'rename', [CompletionResultType]::ParameterValue, 'Rename a device')
            [CompletionResult]::new('tag', 'tag', [CompletionResultType]::ParameterValue, 'Add tags to a device')
            [CompletionResult]::new('untag', 'untag', [CompletionResultType]::ParameterValue, 'Remove tags from a device')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one device')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Replace the agent of a device with another version; an offline device updates later')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a device from the account')
            [CompletionResult]::new('transfer', 'transfer', [CompletionResultType]::ParameterValue, 'Transfer a device to another account, with a key of that account')
            [CompletionResult]::new('retire', 'retire', [CompletionResultType]::ParameterValue, 'Remove a device that was uninstalled while the backend was unreachable; needs no login')
            break
        }
        'link;help;device;list' {
            break
        }
        'link;help;device;rename' {
            break
        }
        'link;help;device;tag' {
            break
        }
        'link;help;device;untag' {
            break
        }
        'link;help;device;show' {
            break
        }
        'link;help;device;update' {
            break
        }
        'link;help;device;remove' {
            break
        }
        'link;help;device;transfer' {
            break
        }
        'link;help;device;retire' {
            break
        }
        'link;help;logs' {
            break
        }
        'link;help;support' {
            break
        }
        'link;help;fleet' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the account''s tags, with their online devices and agent versions')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'List the devices with a tag')
            break
        }
        'link;help;fleet;list' {
            break
        }
        'link;help;fleet;show' {
            break
        }
        'link;help;commands' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the commands sent to devices, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a command and its result')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain the state of a command, its cause, and what happens next')
            break
        }
        'link;help;commands;list' {
            break
        }
        'link;help;commands;show' {
            break
        }
        'link;help;commands;explain' {
            break
        }
        'link;help;operation' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List operations, newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show an operation and its result on each device')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Send no further command of an operation; devices whose command was sent continue, offline ones when they are back')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Retry an operation on the devices that failed')
            [CompletionResult]::new('wait', 'wait', [CompletionResultType]::ParameterValue, 'Wait until an operation ends, and show its results')
            break
        }
        'link;help;operation;list' {
            break
        }
        'link;help;operation;show' {
            break
        }
        'link;help;operation;cancel' {
            break
        }
        'link;help;operation;retry' {
            break
        }
        'link;help;operation;wait' {
            break
        }
        'link;help;model' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the models that you may deploy; shared models show their publisher')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Search the catalogue of models; without words, list every model')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a model from the catalogue, a file, or a URL that devices download from')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a model and its deployments, or a model of the catalogue')
            [CompletionResult]::new('deploy', 'deploy', [CompletionResultType]::ParameterValue, 'Deploy a model to a device, or redeploy it with the current allowlist')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve a deployed model')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop serving a model; the model stays deployed')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a model from a device; the model can be deployed again')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'Cancel an unfinished deployment')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete a model that is not deployed anywhere')
            break
        }
        'link;help;model;list' {
            break
        }
        'link;help;model;search' {
            break
        }
        'link;help;model;add' {
            break
        }
        'link;help;model;show' {
            break
        }
        'link;help;model;deploy' {
            break
        }
        'link;help;model;serve' {
            break
        }
        'link;help;model;stop' {
            break
        }
        'link;help;model;remove' {
            break
        }
        'link;help;model;cancel' {
            break
        }
        'link;help;model;delete' {
            break
        }
        'link;help;engine' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the installed builds of the inference engine, and why each was chosen')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a build of the inference engine and switch to it')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Switch to another installed build of the inference engine')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a build of the inference engine')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs engine indexes, in addition to the release keys')
            break
        }
        'link;help;engine;list' {
            break
        }
        'link;help;engine;install' {
            break
        }
        'link;help;engine;use' {
            break
        }
        'link;help;engine;remove' {
            break
        }
        'link;help;engine;trust' {
            break
        }
        'link;help;plugin' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the plugins that this machine can serve models with')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show what a plugin runs, serves, counts and offers')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write the folder of a new plugin, which works as it is')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check a plugin''s folder, and test its engine, without installing the plugin')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a plugin by its id, from its folder, or from a signed archive')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs the archives of plugins, in addition to the release keys')
            [CompletionResult]::new('key', 'key', [CompletionResultType]::ParameterValue, 'Make a key that signs the archives of your plugins, and print its public half')
            [CompletionResult]::new('pack', 'pack', [CompletionResultType]::ParameterValue, 'Pack a plugin''s folder into an archive that other people can verify and install')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a plugin that was installed on this machine')
            break
        }
        'link;help;plugin;list' {
            break
        }
        'link;help;plugin;show' {
            break
        }
        'link;help;plugin;new' {
            break
        }
        'link;help;plugin;check' {
            break
        }
        'link;help;plugin;install' {
            break
        }
        'link;help;plugin;trust' {
            break
        }
        'link;help;plugin;key' {
            break
        }
        'link;help;plugin;pack' {
            break
        }
        'link;help;plugin;remove' {
            break
        }
        'link;help;run' {
            break
        }
        'link;help;chat' {
            break
        }
        'link;help;repair-serving' {
            break
        }
        'link;help;allowlist' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the account''s origins and the backend''s defaults')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add an origin for this account; deployed models need a repair or a redeployment to get it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove an origin of this account')
            break
        }
        'link;help;allowlist;list' {
            break
        }
        'link;help;allowlist;add' {
            break
        }
        'link;help;allowlist;remove' {
            break
        }
        'link;help;completions' {
            break
        }
        'link;help;complete' {
            break
        }
        'link;help;reach' {
            break
        }
        'link;help;self-check' {
            break
        }
        'link;help;verify-files' {
            break
        }
        'link;help;install-files' {
            break
        }
        'link;help;install-backend' {
            break
        }
        'link;help;uninstall-backend' {
            break
        }
        'link;help;refresh-files' {
            break
        }
        'link;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}

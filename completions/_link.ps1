
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('up', 'up', [CompletionResultType]::ParameterValue, 'Start a backend of your own on this machine, register this device with it and start the agent')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Open the dashboard and the workspace of that backend in a browser, logged in')
            [CompletionResult]::new('down', 'down', [CompletionResultType]::ParameterValue, 'Stop that backend and the agent')
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register this device with a key')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the agent, its connection and its models')
            [CompletionResult]::new('start', 'start', [CompletionResultType]::ParameterValue, 'Start the agent')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop the agent; models are not served while it is stopped')
            [CompletionResult]::new('restart', 'restart', [CompletionResultType]::ParameterValue, 'Stop the agent if it runs, and start it')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Update Link on this machine')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Deregister this device, stop the agent and delete everything that was installed')
            [CompletionResult]::new('login', 'login', [CompletionResultType]::ParameterValue, 'Log in to a backend')
            [CompletionResult]::new('logout', 'logout', [CompletionResultType]::ParameterValue, 'Forget the login and revoke it')
            [CompletionResult]::new('whoami', 'whoami', [CompletionResultType]::ParameterValue, 'Show who is logged in')
            [CompletionResult]::new('account', 'account', [CompletionResultType]::ParameterValue, 'Create the first account of a backend; list your accounts and go to another')
            [CompletionResult]::new('member', 'member', [CompletionResultType]::ParameterValue, 'List, invite and remove the members of the account')
            [CompletionResult]::new('token', 'token', [CompletionResultType]::ParameterValue, 'Create, list and revoke personal access tokens for scripts')
            [CompletionResult]::new('audit', 'audit', [CompletionResultType]::ParameterValue, 'Show who did what in the account')
            [CompletionResult]::new('key', 'key', [CompletionResultType]::ParameterValue, 'Create, list and revoke the keys that devices register with')
            [CompletionResult]::new('device', 'device', [CompletionResultType]::ParameterValue, 'List, show, tag, update and remove devices')
            [CompletionResult]::new('fleet', 'fleet', [CompletionResultType]::ParameterValue, 'List tags, and show the devices that have one')
            [CompletionResult]::new('commands', 'commands', [CompletionResultType]::ParameterValue, 'List what devices were told to do, and explain what became of it')
            [CompletionResult]::new('model', 'model', [CompletionResultType]::ParameterValue, 'Add models, deploy them, serve them')
            [CompletionResult]::new('engine', 'engine', [CompletionResultType]::ParameterValue, 'List, install and remove the inference engine on this machine')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Chat with a model on this machine; deploy and serve it first if that is not done yet')
            [CompletionResult]::new('chat', 'chat', [CompletionResultType]::ParameterValue, 'Chat with a model that is served on this machine')
            [CompletionResult]::new('repair-serving', 'repair-serving', [CompletionResultType]::ParameterValue, 'Correct the allowlist of a model that is served, in place')
            [CompletionResult]::new('allowlist', 'allowlist', [CompletionResultType]::ParameterValue, 'Show and change the web origins that the account''s deployments carry from now on')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            [CompletionResult]::new('self-check', 'self-check', [CompletionResultType]::ParameterValue, 'Tell whether this program runs here')
            [CompletionResult]::new('verify-files', 'verify-files', [CompletionResultType]::ParameterValue, 'Tell whether an unpacked release is one by a trusted key')
            [CompletionResult]::new('install-files', 'install-files', [CompletionResultType]::ParameterValue, 'Lay out an unpacked release, register and start')
            [CompletionResult]::new('install-backend', 'install-backend', [CompletionResultType]::ParameterValue, 'Lay out the backend of an unpacked release and start it')
            [CompletionResult]::new('uninstall-backend', 'uninstall-backend', [CompletionResultType]::ParameterValue, 'Take the backend away')
            [CompletionResult]::new('refresh-files', 'refresh-files', [CompletionResultType]::ParameterValue, 'Write the completions and the manual pages of this version')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;up' {
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port of the backend [default: the one that it had, or the first free one from 8000]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;open' {
            [CompletionResult]::new('--print', '--print', [CompletionResultType]::ParameterName, 'Print the address in place of opening a browser; it is good for 30 seconds and once')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;down' {
            [CompletionResult]::new('--purge', '--purge', [CompletionResultType]::ParameterName, 'Delete the backend''s data and this device''s registration and models too')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;register' {
            [CompletionResult]::new('--registration-key', '--registration-key', [CompletionResultType]::ParameterName, 'Key for one device; `-` reads it from stdin. Or set LINK_REGISTRATION_KEY')
            [CompletionResult]::new('--fleet-key', '--fleet-key', [CompletionResultType]::ParameterName, 'Key for many devices; `-` reads it from stdin. Or set LINK_FLEET_KEY')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'Log in with this e-mail first; the password is asked for')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Access token of an account, in place of a login; `-` reads it from stdin. Or set LINK_ACCESS_TOKEN')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, the login''s, or the installation''s]')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name shown in the dashboard [default: the name of this machine]')
            [CompletionResult]::new('--device-id', '--device-id', [CompletionResultType]::ParameterName, 'Re-activate this device instead of making a new one')
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the password from the next line of stdin')
            [CompletionResult]::new('--new-device', '--new-device', [CompletionResultType]::ParameterName, 'Make a new device although this machine is registered')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;status' {
            [CompletionResult]::new('-w', '-w', [CompletionResultType]::ParameterName, 'Show it again after each change, until Ctrl-C; with --json, one document on each line')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Show it again after each change, until Ctrl-C; with --json, one document on each line')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;start' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;stop' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;restart' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;update' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Version to install [default: the newest]')
            [CompletionResult]::new('--channel', '--channel', [CompletionResultType]::ParameterName, 'Take a version that is at least so well tried: alpha, beta or stable [default: as well as what is installed]')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Only tell whether there is a newer version')
            [CompletionResult]::new('--again', '--again', [CompletionResultType]::ParameterName, 'Also try a version that was given up before')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;uninstall' {
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Delete everything although the backend cannot be told, and print a retire code for it')
            [CompletionResult]::new('--purge', '--purge', [CompletionResultType]::ParameterName, 'Delete the data of the backend of `link up` too, with every account, device and model')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;login' {
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'E-mail of the account; asked for on a terminal')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait for the browser, such as `60s` or `5m`')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Use a personal access token from the first line of this file; `-` reads it from stdin')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, the login''s, or the installation''s]')
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the password from the first line of stdin')
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Let somebody log this machine in with a browser, here or elsewhere')
            [CompletionResult]::new('--no-browser', '--no-browser', [CompletionResultType]::ParameterName, 'Open no browser here')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;logout' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;whoami' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create the first account with the setup token of the backend')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the accounts that you belong to')
            [CompletionResult]::new('password', 'password', [CompletionResultType]::ParameterValue, 'Set a password for the backend of `link up`; every login ends')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Go to another of your accounts; commands act there from then on')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;account;create' {
            [CompletionResult]::new('--setup-token-file', '--setup-token-file', [CompletionResultType]::ParameterName, 'File that holds the setup token; `-` reads it from the first line of stdin')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'E-mail of the account; asked for on a terminal')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, the login''s, or the installation''s]')
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the password from the next line of stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account;password' {
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the password from the first line of stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account;use' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;account;help' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create the first account with the setup token of the backend')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the accounts that you belong to')
            [CompletionResult]::new('password', 'password', [CompletionResultType]::ParameterValue, 'Set a password for the backend of `link up`; every login ends')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Go to another of your accounts; commands act there from then on')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the members of the account, and who is invited')
            [CompletionResult]::new('invite', 'invite', [CompletionResultType]::ParameterValue, 'Make an invitation; its token is shown this once and is good for one member')
            [CompletionResult]::new('accept', 'accept', [CompletionResultType]::ParameterValue, 'Accept an invitation and log in to its account')
            [CompletionResult]::new('role', 'role', [CompletionResultType]::ParameterValue, 'Give a member another role')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a member, withdraw an invitation, or leave the account')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;member;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;member;invite' {
            [CompletionResult]::new('--role', '--role', [CompletionResultType]::ParameterName, 'What the member may do')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'Only a user of this e-mail may accept [default: whoever has the token]')
            [CompletionResult]::new('--expires-at', '--expires-at', [CompletionResultType]::ParameterName, 'When it stops working, such as 2027-01-31T00:00:00Z [default: in seven days]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;member;accept' {
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the invitation''s token; `-` reads it from the first line of stdin')
            [CompletionResult]::new('--email', '--email', [CompletionResultType]::ParameterName, 'Make a new user with this e-mail [default: who is logged in joins]')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, the login''s, or the installation''s]')
            [CompletionResult]::new('--password-stdin', '--password-stdin', [CompletionResultType]::ParameterName, 'Read the new user''s password from the next line of stdin')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;member;role' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;member;remove' {
            [CompletionResult]::new('--keys', '--keys', [CompletionResultType]::ParameterName, 'What becomes of the registration and fleet keys that the member created [default: asked, and without a terminal or with --yes they are revoked]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;member;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the members of the account, and who is invited')
            [CompletionResult]::new('invite', 'invite', [CompletionResultType]::ParameterValue, 'Make an invitation; its token is shown this once and is good for one member')
            [CompletionResult]::new('accept', 'accept', [CompletionResultType]::ParameterValue, 'Accept an invitation and log in to its account')
            [CompletionResult]::new('role', 'role', [CompletionResultType]::ParameterValue, 'Give a member another role')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a personal access token for scripts; it is shown this once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your tokens for the account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: it is good for nothing afterwards')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;token;create' {
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name to know it by')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'What it may be used for; may be given several times')
            [CompletionResult]::new('--expires-at', '--expires-at', [CompletionResultType]::ParameterName, 'When it stops working, such as 2027-01-31T00:00:00Z [default: in 90 days]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;token;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;token;revoke' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;token;help' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a personal access token for scripts; it is shown this once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your tokens for the account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: it is good for nothing afterwards')
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
            [CompletionResult]::new('--action', '--action', [CompletionResultType]::ParameterName, 'Only this action, such as `member.remove`, or all of a kind, such as `member`')
            [CompletionResult]::new('--actor', '--actor', [CompletionResultType]::ParameterName, 'Only what this user, token or device did, by id')
            [CompletionResult]::new('--subject', '--subject', [CompletionResultType]::ParameterName, 'Only what was done to this, by id')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Not before this time, such as 2027-01-31T00:00:00Z')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Before this time')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'How many entries, the newest first')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;key' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a key; it is shown this once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the keys of the account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a key: no device can register with it afterwards')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;key;create' {
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'One device, or many')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name to know it by')
            [CompletionResult]::new('--expires-at', '--expires-at', [CompletionResultType]::ParameterName, 'When it stops working, such as 2027-01-31T00:00:00Z')
            [CompletionResult]::new('--max-devices', '--max-devices', [CompletionResultType]::ParameterName, 'How many devices a fleet key may enrol')
            [CompletionResult]::new('--tag', '--tag', [CompletionResultType]::ParameterName, 'Label of the devices that it enrols; may be given several times')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'link;key;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;key;revoke' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;key;help' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a key; it is shown this once')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the devices of the account')
            [CompletionResult]::new('tag', 'tag', [CompletionResultType]::ParameterValue, 'Give tags to a device')
            [CompletionResult]::new('untag', 'untag', [CompletionResultType]::ParameterValue, 'Take tags from a device')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one device')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Replace the agent of a device by another version; a device that is offline does so later')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a device from the account')
            [CompletionResult]::new('transfer', 'transfer', [CompletionResultType]::ParameterValue, 'Give a device to another account, with a key of that account')
            [CompletionResult]::new('retire', 'retire', [CompletionResultType]::ParameterValue, 'Remove a device that was uninstalled while the backend could not be told; needs no login')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;device;list' {
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'Only the devices that fit, such as `tag=lab,state=online`')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;tag' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;untag' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;update' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Version to install')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the device has done it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;remove' {
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;transfer' {
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'File with the registration or fleet key of the account that receives it; `-` reads it from stdin [default: ask]')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;retire' {
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'Address of the backend [default: LINK_BACKEND_URL, the login''s, or the installation''s]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;device;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the devices of the account')
            [CompletionResult]::new('tag', 'tag', [CompletionResultType]::ParameterValue, 'Give tags to a device')
            [CompletionResult]::new('untag', 'untag', [CompletionResultType]::ParameterValue, 'Take tags from a device')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one device')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Replace the agent of a device by another version; a device that is offline does so later')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a device from the account')
            [CompletionResult]::new('transfer', 'transfer', [CompletionResultType]::ParameterValue, 'Give a device to another account, with a key of that account')
            [CompletionResult]::new('retire', 'retire', [CompletionResultType]::ParameterValue, 'Remove a device that was uninstalled while the backend could not be told; needs no login')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;device;help;list' {
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
        'link;fleet' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the tags of the account''s devices, with how many are online and which versions they run')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the devices with a tag')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;fleet;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;fleet;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;fleet;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the tags of the account''s devices, with how many are online and which versions they run')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the devices with a tag')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List what devices were told to do, the newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a command and its result')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Say where a command is, why, and what happens next')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;commands;list' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Only the commands to this device, by id or by name')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'How many')
            [CompletionResult]::new('--open', '--open', [CompletionResultType]::ParameterName, 'Only those that something can still happen to')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;commands;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;commands;explain' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;commands;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List what devices were told to do, the newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a command and its result')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Say where a command is, why, and what happens next')
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
        'link;model' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the models that you may deploy, shared ones with their publisher')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Search the catalogue of models; without words, list it')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a model: of the catalogue, by its file, or by the address that devices fetch it from')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a model and where it is deployed, or one of the catalogue')
            [CompletionResult]::new('deploy', 'deploy', [CompletionResultType]::ParameterValue, 'Deploy a model to a device, or redeploy it with the current allowlist')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve a model that is deployed')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop serving a model; it stays deployed')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a model from a device; it stays available to deploy again')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'End a deployment that is under way')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete a model that is deployed nowhere')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;model;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;search' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;add' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Address that devices fetch the file from; the backend keeps no copy')
            [CompletionResult]::new('--sha256', '--sha256', [CompletionResultType]::ParameterName, 'SHA-256 of the file at the address [default: asked for, or pinned to what is there now]')
            [CompletionResult]::new('--size', '--size', [CompletionResultType]::ParameterName, 'Size of the file at the address in bytes [default: asked from its server]')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name of the model [default: the file''s, without its extension]')
            [CompletionResult]::new('--file-name', '--file-name', [CompletionResultType]::ParameterName, 'Name of the file on devices [default: the file''s]')
            [CompletionResult]::new('--plugin', '--plugin', [CompletionResultType]::ParameterName, 'Plugin whose engine runs it')
            [CompletionResult]::new('--shared', '--shared', [CompletionResultType]::ParameterName, 'Let every account of the backend deploy it as `publisher/name`, where the backend''s configuration lets this account share')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;deploy' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or by name [default: this machine''s]')
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'All devices that fit, such as `tag=lab,state=online`, in place of one')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port to serve on [default: the one of the deployment before, or 8080]')
            [CompletionResult]::new('--alias', '--alias', [CompletionResultType]::ParameterName, 'Name that clients call it by [default: made from the model''s name]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--serve', '--serve', [CompletionResultType]::ParameterName, 'Serve it as soon as it is there')
            [CompletionResult]::new('--no-cors', '--no-cors', [CompletionResultType]::ParameterName, 'Let no web page call the model')
            [CompletionResult]::new('--no-telemetry', '--no-telemetry', [CompletionResultType]::ParameterName, 'Do not report the token usage of inferences')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the device has done it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;serve' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or by name [default: this machine''s]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port to serve on from now on [default: the current one]')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the device has done it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;stop' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or by name [default: this machine''s]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the device has done it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;remove' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or by name [default: this machine''s]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the device has done it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;cancel' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or by name [default: this machine''s]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;delete' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;model;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the models that you may deploy, shared ones with their publisher')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Search the catalogue of models; without words, list it')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a model: of the catalogue, by its file, or by the address that devices fetch it from')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a model and where it is deployed, or one of the catalogue')
            [CompletionResult]::new('deploy', 'deploy', [CompletionResultType]::ParameterValue, 'Deploy a model to a device, or redeploy it with the current allowlist')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve a model that is deployed')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop serving a model; it stays deployed')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a model from a device; it stays available to deploy again')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'End a deployment that is under way')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete a model that is deployed nowhere')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the builds of the inference engine that are installed here, and why')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a build of the inference engine, and use it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a build')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs indexes of engines, beside the keys that sign releases')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;engine;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;install' {
            [CompletionResult]::new('--sha256', '--sha256', [CompletionResultType]::ParameterName, 'SHA-256 that the archive must have')
            [CompletionResult]::new('--build', '--build', [CompletionResultType]::ParameterName, 'Name of the build [default: what the engine says of itself]')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Folder on a web server (https) or on this machine (file://) that holds a signed index')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;remove' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;trust' {
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'Trust this key no longer')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List the keys that were added here')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;engine;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the builds of the inference engine that are installed here, and why')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a build of the inference engine, and use it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a build')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs indexes of engines, beside the keys that sign releases')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;engine;help;list' {
            break
        }
        'link;engine;help;install' {
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
        'link;run' {
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port to serve on [default: the one of the deployment before, or 8080]')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'System prompt')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'Sampling temperature, from 0 to 10 [default: the engine''s]')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'Largest number of tokens in an answer [default: the engine''s]')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the sampling [default: random]')
            [CompletionResult]::new('--anyway', '--anyway', [CompletionResultType]::ParameterName, 'Go on with a model that needs more memory than this machine has')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;chat' {
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'System prompt')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'Sampling temperature, from 0 to 10 [default: the engine''s]')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'Largest number of tokens in an answer [default: the engine''s]')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the sampling [default: random]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;repair-serving' {
            [CompletionResult]::new('--device', '--device', [CompletionResultType]::ParameterName, 'Device, by id or by name [default: this machine''s]')
            [CompletionResult]::new('--select', '--select', [CompletionResultType]::ParameterName, 'All devices that fit, such as `tag=lab,state=online`, in place of one')
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Serve on this port from then on [default: the current one]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long to wait, such as `60s`, `5m` or `1h`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Wait until the device has done it')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;allowlist' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the account''s origins, and the defaults of the backend')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add an origin for this account; models that are already deployed need a repair or a redeployment to get it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove an origin of this account')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link;allowlist;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;allowlist;add' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;allowlist;remove' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;allowlist;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the account''s origins, and the defaults of the backend')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add an origin for this account; models that are already deployed need a repair or a redeployment to get it')
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
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;self-check' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;verify-files' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Folder of the unpacked release [default: what is installed, if it is intact]')
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'SHA-256 of the archive that it came out of')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'Version that it must have')
            [CompletionResult]::new('--backend', '--backend', [CompletionResultType]::ParameterName, 'The backend, not the agent')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;install-files' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Folder that holds `link` and `link-agent` [default: what is installed, if it is intact]')
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'SHA-256 of the archive that it came out of')
            [CompletionResult]::new('--made', '--made', [CompletionResultType]::ParameterName, 'Outermost folder that was made for this installation')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Address of the folder that later releases come from')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what would be done, and do nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;install-backend' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Folder that holds `link` and `link-agent` [default: what is installed, if it is intact]')
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'SHA-256 of the archive that it came out of')
            [CompletionResult]::new('--made', '--made', [CompletionResultType]::ParameterName, 'Outermost folder that was made for this installation')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Address of the folder that later releases come from')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what would be done, and do nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;uninstall-backend' {
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--purge', '--purge', [CompletionResultType]::ParameterName, 'Delete the data and the configuration too')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;refresh-files' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print data as JSON on stdout, and an error as one JSON document on stderr')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only data and errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link;help' {
            [CompletionResult]::new('up', 'up', [CompletionResultType]::ParameterValue, 'Start a backend of your own on this machine, register this device with it and start the agent')
            [CompletionResult]::new('open', 'open', [CompletionResultType]::ParameterValue, 'Open the dashboard and the workspace of that backend in a browser, logged in')
            [CompletionResult]::new('down', 'down', [CompletionResultType]::ParameterValue, 'Stop that backend and the agent')
            [CompletionResult]::new('register', 'register', [CompletionResultType]::ParameterValue, 'Register this device with a key')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show the agent, its connection and its models')
            [CompletionResult]::new('start', 'start', [CompletionResultType]::ParameterValue, 'Start the agent')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop the agent; models are not served while it is stopped')
            [CompletionResult]::new('restart', 'restart', [CompletionResultType]::ParameterValue, 'Stop the agent if it runs, and start it')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Update Link on this machine')
            [CompletionResult]::new('uninstall', 'uninstall', [CompletionResultType]::ParameterValue, 'Deregister this device, stop the agent and delete everything that was installed')
            [CompletionResult]::new('login', 'login', [CompletionResultType]::ParameterValue, 'Log in to a backend')
            [CompletionResult]::new('logout', 'logout', [CompletionResultType]::ParameterValue, 'Forget the login and revoke it')
            [CompletionResult]::new('whoami', 'whoami', [CompletionResultType]::ParameterValue, 'Show who is logged in')
            [CompletionResult]::new('account', 'account', [CompletionResultType]::ParameterValue, 'Create the first account of a backend; list your accounts and go to another')
            [CompletionResult]::new('member', 'member', [CompletionResultType]::ParameterValue, 'List, invite and remove the members of the account')
            [CompletionResult]::new('token', 'token', [CompletionResultType]::ParameterValue, 'Create, list and revoke personal access tokens for scripts')
            [CompletionResult]::new('audit', 'audit', [CompletionResultType]::ParameterValue, 'Show who did what in the account')
            [CompletionResult]::new('key', 'key', [CompletionResultType]::ParameterValue, 'Create, list and revoke the keys that devices register with')
            [CompletionResult]::new('device', 'device', [CompletionResultType]::ParameterValue, 'List, show, tag, update and remove devices')
            [CompletionResult]::new('fleet', 'fleet', [CompletionResultType]::ParameterValue, 'List tags, and show the devices that have one')
            [CompletionResult]::new('commands', 'commands', [CompletionResultType]::ParameterValue, 'List what devices were told to do, and explain what became of it')
            [CompletionResult]::new('model', 'model', [CompletionResultType]::ParameterValue, 'Add models, deploy them, serve them')
            [CompletionResult]::new('engine', 'engine', [CompletionResultType]::ParameterValue, 'List, install and remove the inference engine on this machine')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Chat with a model on this machine; deploy and serve it first if that is not done yet')
            [CompletionResult]::new('chat', 'chat', [CompletionResultType]::ParameterValue, 'Chat with a model that is served on this machine')
            [CompletionResult]::new('repair-serving', 'repair-serving', [CompletionResultType]::ParameterValue, 'Correct the allowlist of a model that is served, in place')
            [CompletionResult]::new('allowlist', 'allowlist', [CompletionResultType]::ParameterValue, 'Show and change the web origins that the account''s deployments carry from now on')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions for a shell')
            [CompletionResult]::new('self-check', 'self-check', [CompletionResultType]::ParameterValue, 'Tell whether this program runs here')
            [CompletionResult]::new('verify-files', 'verify-files', [CompletionResultType]::ParameterValue, 'Tell whether an unpacked release is one by a trusted key')
            [CompletionResult]::new('install-files', 'install-files', [CompletionResultType]::ParameterValue, 'Lay out an unpacked release, register and start')
            [CompletionResult]::new('install-backend', 'install-backend', [CompletionResultType]::ParameterValue, 'Lay out the backend of an unpacked release and start it')
            [CompletionResult]::new('uninstall-backend', 'uninstall-backend', [CompletionResultType]::ParameterValue, 'Take the backend away')
            [CompletionResult]::new('refresh-files', 'refresh-files', [CompletionResultType]::ParameterValue, 'Write the completions and the manual pages of this version')
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
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create the first account with the setup token of the backend')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the accounts that you belong to')
            [CompletionResult]::new('password', 'password', [CompletionResultType]::ParameterValue, 'Set a password for the backend of `link up`; every login ends')
            [CompletionResult]::new('use', 'use', [CompletionResultType]::ParameterValue, 'Go to another of your accounts; commands act there from then on')
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
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the members of the account, and who is invited')
            [CompletionResult]::new('invite', 'invite', [CompletionResultType]::ParameterValue, 'Make an invitation; its token is shown this once and is good for one member')
            [CompletionResult]::new('accept', 'accept', [CompletionResultType]::ParameterValue, 'Accept an invitation and log in to its account')
            [CompletionResult]::new('role', 'role', [CompletionResultType]::ParameterValue, 'Give a member another role')
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
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a personal access token for scripts; it is shown this once')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List your tokens for the account, without their secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Revoke a token: it is good for nothing afterwards')
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
        'link;help;key' {
            [CompletionResult]::new('create', 'create', [CompletionResultType]::ParameterValue, 'Create a key; it is shown this once')
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
            [CompletionResult]::new('tag', 'tag', [CompletionResultType]::ParameterValue, 'Give tags to a device')
            [CompletionResult]::new('untag', 'untag', [CompletionResultType]::ParameterValue, 'Take tags from a device')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one device')
            [CompletionResult]::new('update', 'update', [CompletionResultType]::ParameterValue, 'Replace the agent of a device by another version; a device that is offline does so later')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a device from the account')
            [CompletionResult]::new('transfer', 'transfer', [CompletionResultType]::ParameterValue, 'Give a device to another account, with a key of that account')
            [CompletionResult]::new('retire', 'retire', [CompletionResultType]::ParameterValue, 'Remove a device that was uninstalled while the backend could not be told; needs no login')
            break
        }
        'link;help;device;list' {
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
        'link;help;fleet' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the tags of the account''s devices, with how many are online and which versions they run')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the devices with a tag')
            break
        }
        'link;help;fleet;list' {
            break
        }
        'link;help;fleet;show' {
            break
        }
        'link;help;commands' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List what devices were told to do, the newest first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a command and its result')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Say where a command is, why, and what happens next')
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
        'link;help;model' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the models that you may deploy, shared ones with their publisher')
            [CompletionResult]::new('search', 'search', [CompletionResultType]::ParameterValue, 'Search the catalogue of models; without words, list it')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add a model: of the catalogue, by its file, or by the address that devices fetch it from')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show a model and where it is deployed, or one of the catalogue')
            [CompletionResult]::new('deploy', 'deploy', [CompletionResultType]::ParameterValue, 'Deploy a model to a device, or redeploy it with the current allowlist')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve a model that is deployed')
            [CompletionResult]::new('stop', 'stop', [CompletionResultType]::ParameterValue, 'Stop serving a model; it stays deployed')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Delete a model from a device; it stays available to deploy again')
            [CompletionResult]::new('cancel', 'cancel', [CompletionResultType]::ParameterValue, 'End a deployment that is under way')
            [CompletionResult]::new('delete', 'delete', [CompletionResultType]::ParameterValue, 'Delete a model that is deployed nowhere')
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
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the builds of the inference engine that are installed here, and why')
            [CompletionResult]::new('install', 'install', [CompletionResultType]::ParameterValue, 'Install a build of the inference engine, and use it')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Remove a build')
            [CompletionResult]::new('trust', 'trust', [CompletionResultType]::ParameterValue, 'Trust a key that signs indexes of engines, beside the keys that sign releases')
            break
        }
        'link;help;engine;list' {
            break
        }
        'link;help;engine;install' {
            break
        }
        'link;help;engine;remove' {
            break
        }
        'link;help;engine;trust' {
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
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show the account''s origins, and the defaults of the backend')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add an origin for this account; models that are already deployed need a repair or a redeployment to get it')
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

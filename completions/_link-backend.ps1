
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'link-backend' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'link-backend'
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
        'link-backend' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Answer requests until SIGTERM or Ctrl-C')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Bring the tables of the database up to date; `serve` does it too')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Write one consistent archive of the data folder; the backend may run')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Put a backup in the place of the data folder; the backend must not run')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Look for what is wrong or will be, and say what to do about it')
            [CompletionResult]::new('releases', 'releases', [CompletionResultType]::ParameterValue, 'Hand releases and engines on to devices')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Look at the configuration')
            [CompletionResult]::new('create-account', 'create-account', [CompletionResultType]::ParameterValue, 'Create a further account; its password is asked for, or the first line of a piped standard input')
            [CompletionResult]::new('reset-password', 'reset-password', [CompletionResultType]::ParameterValue, 'Give a user another password and end every login of that user')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;serve' {
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'The address to listen on; port 0 takes a free one [default: 127.0.0.1:8000] [LINK_BACKEND_LISTEN]')
            [CompletionResult]::new('--metrics-listen', '--metrics-listen', [CompletionResultType]::ParameterName, 'The address that answers `/metrics`, for Prometheus [default: none] [LINK_BACKEND_METRICS_LISTEN]')
            [CompletionResult]::new('--public-url', '--public-url', [CompletionResultType]::ParameterName, 'The address that people and devices reach this backend at [LINK_BACKEND_PUBLIC_URL]')
            [CompletionResult]::new('--workspace-url', '--workspace-url', [CompletionResultType]::ParameterName, 'The address of the workspace, when this backend does not serve it itself [LINK_BACKEND_WORKSPACE_URL]')
            [CompletionResult]::new('--allowed-origin', '--allowed-origin', [CompletionResultType]::ParameterName, 'An origin whose pages may call the deployed models of every account, in the place of the workspace''s own. May be given several times [LINK_BACKEND_ALLOWED_ORIGINS]')
            [CompletionResult]::new('--device-limit', '--device-limit', [CompletionResultType]::ParameterName, 'Devices that an account may have [default: 100] [LINK_BACKEND_DEVICE_LIMIT]')
            [CompletionResult]::new('--address-file', '--address-file', [CompletionResultType]::ParameterName, 'Write the address that was bound to this file, once requests are answered [LINK_BACKEND_ADDRESS_FILE]')
            [CompletionResult]::new('--zenoh-listen', '--zenoh-listen', [CompletionResultType]::ParameterName, 'Endpoint of the built-in zenoh router, such as `tls/0.0.0.0:7447`. May be given several times [default: none] [LINK_BACKEND_ZENOH_LISTEN]')
            [CompletionResult]::new('--zenoh-endpoint', '--zenoh-endpoint', [CompletionResultType]::ParameterName, 'Endpoint of zenoh that devices are told, where it is not the one that is listened on [LINK_BACKEND_ZENOH_ENDPOINTS]')
            [CompletionResult]::new('--zenoh-reserve', '--zenoh-reserve', [CompletionResultType]::ParameterName, 'Free slots that the zenoh router opens with at least [default: 64] [LINK_BACKEND_ZENOH_RESERVE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;migrate' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Say what is pending and change nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;backup' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace the file when it exists')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;restore' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Put a folder aside that is not empty')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;doctor' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;releases' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch the newest release with its index of engines, verify it, and serve it below `/releases`')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;releases;pull' {
            [CompletionResult]::new('--trust', '--trust', [CompletionResultType]::ParameterName, 'A file with a public key whose releases are taken, beside those that this program trusts. May be given several times')
            [CompletionResult]::new('--development-release-keys', '--development-release-keys', [CompletionResultType]::ParameterName, 'Keys whose releases a development build takes, beside its own')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--allow-older', '--allow-older', [CompletionResultType]::ParameterName, 'Take a release or an index that is older than what is served')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;releases;help' {
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch the newest release with its index of engines, verify it, and serve it below `/releases`')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;releases;help;pull' {
            break
        }
        'link-backend;releases;help;help' {
            break
        }
        'link-backend;config' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say every fault of the configuration, or that there is none')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print every key with its value and where that stands; secrets are stars')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the file, for an editor')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;config;check' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;config;show' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;config;schema' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;config;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say every fault of the configuration, or that there is none')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print every key with its value and where that stands; secrets are stars')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the file, for an editor')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;config;help;check' {
            break
        }
        'link-backend;config;help;show' {
            break
        }
        'link-backend;config;help;schema' {
            break
        }
        'link-backend;config;help;help' {
            break
        }
        'link-backend;create-account' {
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'What other accounts know it by; it stays for ever [default: what stands before the `@`, with a number when another account has that]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;reset-password' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The folder that holds everything [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for a program instead of text for a person')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;help' {
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Answer requests until SIGTERM or Ctrl-C')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Bring the tables of the database up to date; `serve` does it too')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Write one consistent archive of the data folder; the backend may run')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Put a backup in the place of the data folder; the backend must not run')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Look for what is wrong or will be, and say what to do about it')
            [CompletionResult]::new('releases', 'releases', [CompletionResultType]::ParameterValue, 'Hand releases and engines on to devices')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Look at the configuration')
            [CompletionResult]::new('create-account', 'create-account', [CompletionResultType]::ParameterValue, 'Create a further account; its password is asked for, or the first line of a piped standard input')
            [CompletionResult]::new('reset-password', 'reset-password', [CompletionResultType]::ParameterValue, 'Give a user another password and end every login of that user')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;help;serve' {
            break
        }
        'link-backend;help;migrate' {
            break
        }
        'link-backend;help;backup' {
            break
        }
        'link-backend;help;restore' {
            break
        }
        'link-backend;help;doctor' {
            break
        }
        'link-backend;help;releases' {
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch the newest release with its index of engines, verify it, and serve it below `/releases`')
            break
        }
        'link-backend;help;releases;pull' {
            break
        }
        'link-backend;help;config' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Say every fault of the configuration, or that there is none')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print every key with its value and where that stands; secrets are stars')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the file, for an editor')
            break
        }
        'link-backend;help;config;check' {
            break
        }
        'link-backend;help;config;show' {
            break
        }
        'link-backend;help;config;schema' {
            break
        }
        'link-backend;help;create-account' {
            break
        }
        'link-backend;help;reset-password' {
            break
        }
        'link-backend;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}

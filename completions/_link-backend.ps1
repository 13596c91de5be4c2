
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Answer requests until SIGTERM or Ctrl-C')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Migrate the database to the tables of this version; `serve` does so too')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Write a consistent archive of the data folder; the backend may run meanwhile')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Replace the data folder with a backup; the backend must not run meanwhile')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'List current and expected problems of the backend, each with its remedy')
            [CompletionResult]::new('releases', 'releases', [CompletionResultType]::ParameterValue, 'Provide releases and engines for devices')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Check and show the configuration')
            [CompletionResult]::new('create-account', 'create-account', [CompletionResultType]::ParameterValue, 'Create another account; prompts for its password, or reads the first line of a piped stdin')
            [CompletionResult]::new('reset-password', 'reset-password', [CompletionResultType]::ParameterValue, 'Set a new password for a user, end all logins of that user and revoke the user''s access tokens')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;serve' {
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Address to listen on; port 0 picks a free port [default: 127.0.0.1:8000] [LINK_BACKEND_LISTEN]')
            [CompletionResult]::new('--metrics-listen', '--metrics-listen', [CompletionResultType]::ParameterName, 'Address that answers `/metrics`, for Prometheus [default: none] [LINK_BACKEND_METRICS_LISTEN]')
            [CompletionResult]::new('--public-url', '--public-url', [CompletionResultType]::ParameterName, 'Address at which people and devices reach this backend [LINK_BACKEND_PUBLIC_URL]')
            [CompletionResult]::new('--workspace-url', '--workspace-url', [CompletionResultType]::ParameterName, 'Address of the workspace, if this backend does not serve the workspace itself [LINK_BACKEND_WORKSPACE_URL]')
            [CompletionResult]::new('--allowed-origin', '--allowed-origin', [CompletionResultType]::ParameterName, 'Origin whose pages may call the deployed models of every account; may be given several times [default: the workspace''s origin] [LINK_BACKEND_ALLOWED_ORIGINS]')
            [CompletionResult]::new('--device-limit', '--device-limit', [CompletionResultType]::ParameterName, 'Largest number of devices of an account [default: 100] [LINK_BACKEND_DEVICE_LIMIT]')
            [CompletionResult]::new('--address-file', '--address-file', [CompletionResultType]::ParameterName, 'File to write the bound address to, once the backend answers requests [LINK_BACKEND_ADDRESS_FILE]')
            [CompletionResult]::new('--zenoh-listen', '--zenoh-listen', [CompletionResultType]::ParameterName, 'Endpoint of the built-in zenoh router, such as `tls/0.0.0.0:7447`; may be given several times [default: none] [LINK_BACKEND_ZENOH_LISTEN]')
            [CompletionResult]::new('--zenoh-endpoint', '--zenoh-endpoint', [CompletionResultType]::ParameterName, 'Endpoint of the zenoh router for devices; may be given several times [default: the endpoints of --zenoh-listen] [LINK_BACKEND_ZENOH_ENDPOINTS]')
            [CompletionResult]::new('--zenoh-reserve', '--zenoh-reserve', [CompletionResultType]::ParameterName, 'Smallest number of free slots when the zenoh router opens [default: 64] [LINK_BACKEND_ZENOH_RESERVE]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;migrate' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'List the pending migrations, and change nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;backup' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Replace the file if it exists')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;restore' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Also replace a data folder that is not empty; it is renamed, not deleted')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;doctor' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;releases' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch the newest release, the engine index and the model catalogue, verify them, and serve them below `/releases`')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;releases;pull' {
            [CompletionResult]::new('--trust', '--trust', [CompletionResultType]::ParameterName, 'File with a public key to trust, in addition to the release keys of this program; may be given several times')
            [CompletionResult]::new('--development-release-keys', '--development-release-keys', [CompletionResultType]::ParameterName, 'Additional release keys that a development build trusts')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--allow-older', '--allow-older', [CompletionResultType]::ParameterName, 'Accept a release, an index or a catalogue that is older than the served one')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;releases;help' {
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch the newest release, the engine index and the model catalogue, verify them, and serve them below `/releases`')
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
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check the configuration and list all its faults')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print every key with its value and its source; secrets are printed as stars')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the configuration file, for an editor')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'link-backend;config;check' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;config;show' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;config;schema' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;config;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check the configuration and list all its faults')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print every key with its value and its source; secrets are printed as stars')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the configuration file, for an editor')
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
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Permanent name of the account for other accounts [default: the part before the `@`, with a number if another account has that name]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;reset-password' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'Folder for all data [LINK_BACKEND_DATA]')
            [CompletionResult]::new('--database-url-file', '--database-url-file', [CompletionResultType]::ParameterName, 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON for programs instead of text for people')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'link-backend;help' {
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Answer requests until SIGTERM or Ctrl-C')
            [CompletionResult]::new('migrate', 'migrate', [CompletionResultType]::ParameterValue, 'Migrate the database to the tables of this version; `serve` does so too')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Write a consistent archive of the data folder; the backend may run meanwhile')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Replace the data folder with a backup; the backend must not run meanwhile')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'List current and expected problems of the backend, each with its remedy')
            [CompletionResult]::new('releases', 'releases', [CompletionResultType]::ParameterValue, 'Provide releases and engines for devices')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Check and show the configuration')
            [CompletionResult]::new('create-account', 'create-account', [CompletionResultType]::ParameterValue, 'Create another account; prompts for its password, or reads the first line of a piped stdin')
            [CompletionResult]::new('reset-password', 'reset-password', [CompletionResultType]::ParameterValue, 'Set a new password for a user, end all logins of that user and revoke the user''s access tokens')
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
            [CompletionResult]::new('pull', 'pull', [CompletionResultType]::ParameterValue, 'Fetch the newest release, the engine index and the model catalogue, verify them, and serve them below `/releases`')
            break
        }
        'link-backend;help;releases;pull' {
            break
        }
        'link-backend;help;config' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check the configuration and list all its faults')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print every key with its value and its source; secrets are printed as stars')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of the configuration file, for an editor')
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

# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_link_backend_global_optspecs
    string join \n config= data= database-url-file= log= log-format= json h/help V/version
end

function __fish_link_backend_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_link_backend_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_link_backend_using_subcommand
    set -l cmd (__fish_link_backend_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c link-backend -n "__fish_link_backend_needs_command" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_needs_command" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_needs_command" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_needs_command" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_needs_command" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_needs_command" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_needs_command" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_needs_command" -s V -l version -d 'Print version'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "serve" -d 'Answer requests until SIGTERM or Ctrl-C'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "migrate" -d 'Migrate the database to the tables of this version; `serve` does so too'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "backup" -d 'Write a consistent archive of the data folder; the backend may run meanwhile'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "restore" -d 'Replace the data folder with a backup; the backend must not run meanwhile'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "doctor" -d 'List current and expected problems of the backend, each with its remedy'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "releases" -d 'Provide releases and engines for devices'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "config" -d 'Check and show the configuration'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "create-account" -d 'Create another account; prompts for its password, or reads the first line of a piped stdin'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "reset-password" -d 'Set a new password for a user, end all logins of that user and revoke the user\'s access tokens'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l listen -d 'Address to listen on; port 0 picks a free port [default: 127.0.0.1:8000] [LINK_BACKEND_LISTEN]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l metrics-listen -d 'Address that answers `/metrics`, for Prometheus [default: none] [LINK_BACKEND_METRICS_LISTEN]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l public-url -d 'Address at which people and devices reach this backend [LINK_BACKEND_PUBLIC_URL]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l workspace-url -d 'Address of the workspace, if this backend does not serve the workspace itself [LINK_BACKEND_WORKSPACE_URL]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l allowed-origin -d 'Origin whose pages may call the deployed models of every account; may be given several times [default: the workspace\'s origin] [LINK_BACKEND_ALLOWED_ORIGINS]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l device-limit -d 'Largest number of devices of an account [default: 100] [LINK_BACKEND_DEVICE_LIMIT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l address-file -d 'File to write the bound address to, once the backend answers requests [LINK_BACKEND_ADDRESS_FILE]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l zenoh-listen -d 'Endpoint of the built-in zenoh router, such as `tls/0.0.0.0:7447`; may be given several times [default: none] [LINK_BACKEND_ZENOH_LISTEN]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l zenoh-endpoint -d 'Endpoint of the zenoh router for devices; may be given several times [default: the endpoints of --zenoh-listen] [LINK_BACKEND_ZENOH_ENDPOINTS]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l zenoh-reserve -d 'Smallest number of free slots when the zenoh router opens [default: 64] [LINK_BACKEND_ZENOH_RESERVE]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l dry-run -d 'List the pending migrations, and change nothing'
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l force -d 'Replace the file if it exists'
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l force -d 'Also replace a data folder that is not empty; it is renamed, not deleted'
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -f -a "pull" -d 'Fetch the newest release, the engine index and the model catalogue, verify them, and serve them below `/releases`'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l trust -d 'File with a public key to trust, in addition to the release keys of this program; may be given several times' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l development-release-keys -d 'Additional release keys that a development build trusts' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l allow-older -d 'Accept a release, an index or a catalogue that is older than the served one'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "pull" -d 'Fetch the newest release, the engine index and the model catalogue, verify them, and serve them below `/releases`'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -f -a "check" -d 'Check the configuration and list all its faults'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -f -a "show" -d 'Print every key with its value and its source; secrets are printed as stars'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -f -a "schema" -d 'Print the JSON Schema of the configuration file, for an editor'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check the configuration and list all its faults'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print every key with its value and its source; secrets are printed as stars'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema of the configuration file, for an editor'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l name -d 'Permanent name of the account for other accounts [default: the part before the `@`, with a number if another account has that name]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l config -d 'Configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l data -d 'Folder for all data [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l database-url-file -d 'Private file with the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l log -d 'Log filter, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l log-format -d 'Format of the log records: `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l json -d 'Print JSON for programs instead of text for people'
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "serve" -d 'Answer requests until SIGTERM or Ctrl-C'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "migrate" -d 'Migrate the database to the tables of this version; `serve` does so too'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "backup" -d 'Write a consistent archive of the data folder; the backend may run meanwhile'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "restore" -d 'Replace the data folder with a backup; the backend must not run meanwhile'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "doctor" -d 'List current and expected problems of the backend, each with its remedy'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "releases" -d 'Provide releases and engines for devices'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "config" -d 'Check and show the configuration'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "create-account" -d 'Create another account; prompts for its password, or reads the first line of a piped stdin'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "reset-password" -d 'Set a new password for a user, end all logins of that user and revoke the user\'s access tokens'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and __fish_seen_subcommand_from releases" -f -a "pull" -d 'Fetch the newest release, the engine index and the model catalogue, verify them, and serve them below `/releases`'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "check" -d 'Check the configuration and list all its faults'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "show" -d 'Print every key with its value and its source; secrets are printed as stars'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "schema" -d 'Print the JSON Schema of the configuration file, for an editor'

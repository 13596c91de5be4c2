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

complete -c link-backend -n "__fish_link_backend_needs_command" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_needs_command" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_needs_command" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_needs_command" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_needs_command" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_needs_command" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_needs_command" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_needs_command" -s V -l version -d 'Print version'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "serve" -d 'Answer requests until SIGTERM or Ctrl-C'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "migrate" -d 'Bring the tables of the database up to date; `serve` does it too'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "backup" -d 'Write one consistent archive of the data folder; the backend may run'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "restore" -d 'Put a backup in the place of the data folder; the backend must not run'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "doctor" -d 'Look for what is wrong or will be, and say what to do about it'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "releases" -d 'Hand releases and engines on to devices'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "config" -d 'Look at the configuration'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "create-account" -d 'Create a further account; its password is asked for, or the first line of a piped standard input'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "reset-password" -d 'Give a user another password and end every login of that user'
complete -c link-backend -n "__fish_link_backend_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l listen -d 'The address to listen on; port 0 takes a free one [default: 127.0.0.1:8000] [LINK_BACKEND_LISTEN]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l metrics-listen -d 'The address that answers `/metrics`, for Prometheus [default: none] [LINK_BACKEND_METRICS_LISTEN]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l public-url -d 'The address that people and devices reach this backend at [LINK_BACKEND_PUBLIC_URL]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l workspace-url -d 'The address of the workspace, when this backend does not serve it itself [LINK_BACKEND_WORKSPACE_URL]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l allowed-origin -d 'An origin whose pages may call the deployed models of every account, in the place of the workspace\'s own. May be given several times [LINK_BACKEND_ALLOWED_ORIGINS]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l device-limit -d 'Devices that an account may have [default: 100] [LINK_BACKEND_DEVICE_LIMIT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l address-file -d 'Write the address that was bound to this file, once requests are answered [LINK_BACKEND_ADDRESS_FILE]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l zenoh-listen -d 'Endpoint of the built-in zenoh router, such as `tls/0.0.0.0:7447`. May be given several times [default: none] [LINK_BACKEND_ZENOH_LISTEN]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l zenoh-endpoint -d 'Endpoint of zenoh that devices are told, where it is not the one that is listened on [LINK_BACKEND_ZENOH_ENDPOINTS]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l zenoh-reserve -d 'Free slots that the zenoh router opens with at least [default: 64] [LINK_BACKEND_ZENOH_RESERVE]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand serve" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l dry-run -d 'Say what is pending and change nothing'
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand migrate" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l force -d 'Replace the file when it exists'
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand backup" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l force -d 'Put a folder aside that is not empty'
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand restore" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -f -a "pull" -d 'Fetch the newest release with its index of engines, verify it, and serve it below `/releases`'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and not __fish_seen_subcommand_from pull help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l trust -d 'A file with a public key whose releases are taken, beside those that this program trusts. May be given several times' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l development-release-keys -d 'Keys whose releases a development build takes, beside its own' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l allow-older -d 'Take a release or an index that is older than what is served'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from pull" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "pull" -d 'Fetch the newest release with its index of engines, verify it, and serve it below `/releases`'
complete -c link-backend -n "__fish_link_backend_using_subcommand releases; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -f -a "check" -d 'Say every fault of the configuration, or that there is none'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -f -a "show" -d 'Print every key with its value and where that stands; secrets are stars'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -f -a "schema" -d 'Print the JSON Schema of the file, for an editor'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and not __fish_seen_subcommand_from check show schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Say every fault of the configuration, or that there is none'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print every key with its value and where that stands; secrets are stars'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema of the file, for an editor'
complete -c link-backend -n "__fish_link_backend_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l name -d 'What other accounts know it by; it stays for ever [default: what stands before the `@`, with a number when another account has that]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand create-account" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l config -d 'The configuration file [default: ~/.config/link-backend/backend.toml, else /etc/link-backend/backend.toml, unless a data folder is given]' -r -F
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l data -d 'The folder that holds everything [LINK_BACKEND_DATA]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l database-url-file -d 'A private file that holds the address of a PostgreSQL database [LINK_BACKEND_DATABASE_URL_FILE; LINK_BACKEND_DATABASE_URL may hold the address itself]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l log -d 'What to log, such as `info` or `link_backend=debug` [LINK_BACKEND_LOG_FILTER]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l log-format -d 'How a log record looks, `text` or `json` [LINK_BACKEND_LOG_FORMAT]' -r
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -l json -d 'Print JSON for a program instead of text for a person'
complete -c link-backend -n "__fish_link_backend_using_subcommand reset-password" -s h -l help -d 'Print help'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "serve" -d 'Answer requests until SIGTERM or Ctrl-C'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "migrate" -d 'Bring the tables of the database up to date; `serve` does it too'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "backup" -d 'Write one consistent archive of the data folder; the backend may run'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "restore" -d 'Put a backup in the place of the data folder; the backend must not run'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "doctor" -d 'Look for what is wrong or will be, and say what to do about it'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "releases" -d 'Hand releases and engines on to devices'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "config" -d 'Look at the configuration'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "create-account" -d 'Create a further account; its password is asked for, or the first line of a piped standard input'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "reset-password" -d 'Give a user another password and end every login of that user'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and not __fish_seen_subcommand_from serve migrate backup restore doctor releases config create-account reset-password help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and __fish_seen_subcommand_from releases" -f -a "pull" -d 'Fetch the newest release with its index of engines, verify it, and serve it below `/releases`'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "check" -d 'Say every fault of the configuration, or that there is none'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "show" -d 'Print every key with its value and where that stands; secrets are stars'
complete -c link-backend -n "__fish_link_backend_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "schema" -d 'Print the JSON Schema of the file, for an editor'

complete -c link-backend -a '(linkctl complete -- (commandline -opc) (commandline -ct) 2>/dev/null)'

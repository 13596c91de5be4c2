# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_link_global_optspecs
    string join \n json q/quiet h/help V/version
end

function __fish_link_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_link_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_link_using_subcommand
    set -l cmd (__fish_link_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c link -n "__fish_link_needs_command" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_needs_command" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c link -n "__fish_link_needs_command" -s V -l version -d 'Print version'
complete -c link -n "__fish_link_needs_command" -f -a "register" -d 'Register this device with a key'
complete -c link -n "__fish_link_needs_command" -f -a "status" -d 'Show the agent, its connection and its models'
complete -c link -n "__fish_link_needs_command" -f -a "start" -d 'Start the agent'
complete -c link -n "__fish_link_needs_command" -f -a "stop" -d 'Stop the agent; models are not served while it is stopped'
complete -c link -n "__fish_link_needs_command" -f -a "restart" -d 'Stop the agent if it runs, and start it'
complete -c link -n "__fish_link_needs_command" -f -a "update" -d 'Update Link on this machine'
complete -c link -n "__fish_link_needs_command" -f -a "uninstall" -d 'Deregister this device, stop the agent and delete everything that was installed'
complete -c link -n "__fish_link_needs_command" -f -a "login" -d 'Log in to a backend'
complete -c link -n "__fish_link_needs_command" -f -a "logout" -d 'Forget the login and revoke it'
complete -c link -n "__fish_link_needs_command" -f -a "whoami" -d 'Show who is logged in'
complete -c link -n "__fish_link_needs_command" -f -a "account" -d 'Create the first account of a backend; list your accounts and go to another'
complete -c link -n "__fish_link_needs_command" -f -a "member" -d 'List, invite and remove the members of the account'
complete -c link -n "__fish_link_needs_command" -f -a "token" -d 'Create, list and revoke personal access tokens for scripts'
complete -c link -n "__fish_link_needs_command" -f -a "audit" -d 'Show who did what in the account'
complete -c link -n "__fish_link_needs_command" -f -a "key" -d 'Create, list and revoke the keys that devices register with'
complete -c link -n "__fish_link_needs_command" -f -a "device" -d 'List, show, tag, update and remove devices'
complete -c link -n "__fish_link_needs_command" -f -a "fleet" -d 'List tags, and show the devices that have one'
complete -c link -n "__fish_link_needs_command" -f -a "commands" -d 'List what devices were told to do, and explain what became of it'
complete -c link -n "__fish_link_needs_command" -f -a "model" -d 'Add models, deploy them, serve them'
complete -c link -n "__fish_link_needs_command" -f -a "run" -d 'Chat with a model on this machine; deploy and serve it first if that is not done yet'
complete -c link -n "__fish_link_needs_command" -f -a "chat" -d 'Chat with a model that is served on this machine'
complete -c link -n "__fish_link_needs_command" -f -a "repair-serving" -d 'Correct the allowlist of a model that is served, in place'
complete -c link -n "__fish_link_needs_command" -f -a "allowlist" -d 'Show and change the web origins that the account\'s deployments carry from now on'
complete -c link -n "__fish_link_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c link -n "__fish_link_needs_command" -f -a "self-check" -d 'Tell whether this program runs here'
complete -c link -n "__fish_link_needs_command" -f -a "verify-files" -d 'Tell whether an unpacked release is one by a trusted key'
complete -c link -n "__fish_link_needs_command" -f -a "install-files" -d 'Lay out an unpacked release, register and start'
complete -c link -n "__fish_link_needs_command" -f -a "install-backend" -d 'Lay out the backend of an unpacked release and start it'
complete -c link -n "__fish_link_needs_command" -f -a "uninstall-backend" -d 'Take the backend away'
complete -c link -n "__fish_link_needs_command" -f -a "refresh-files" -d 'Write the completions and the manual pages of this version'
complete -c link -n "__fish_link_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand register" -l registration-key -d 'Key for one device; `-` reads it from stdin. Or set LINK_REGISTRATION_KEY' -r
complete -c link -n "__fish_link_using_subcommand register" -l fleet-key -d 'Key for many devices; `-` reads it from stdin. Or set LINK_FLEET_KEY' -r
complete -c link -n "__fish_link_using_subcommand register" -l email -d 'Log in with this e-mail first; the password is asked for' -r
complete -c link -n "__fish_link_using_subcommand register" -l token -d 'Access token of an account, in place of a login; `-` reads it from stdin. Or set LINK_ACCESS_TOKEN' -r
complete -c link -n "__fish_link_using_subcommand register" -l backend -d 'Address of the backend [default: LINK_BACKEND_URL, the login\'s, or the installation\'s]' -r
complete -c link -n "__fish_link_using_subcommand register" -l name -d 'Name shown in the dashboard [default: the name of this machine]' -r
complete -c link -n "__fish_link_using_subcommand register" -l device-id -d 'Re-activate this device instead of making a new one' -r
complete -c link -n "__fish_link_using_subcommand register" -l password-stdin -d 'Read the password from the next line of stdin'
complete -c link -n "__fish_link_using_subcommand register" -l new-device -d 'Make a new device although this machine is registered'
complete -c link -n "__fish_link_using_subcommand register" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand register" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand register" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand status" -s w -l watch -d 'Show it again after each change, until Ctrl-C; with --json, one document on each line'
complete -c link -n "__fish_link_using_subcommand status" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand status" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand status" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand start" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand start" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand start" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand stop" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand stop" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand stop" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand restart" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand restart" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand restart" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand update" -l to -d 'Version to install [default: the newest]' -r
complete -c link -n "__fish_link_using_subcommand update" -l channel -d 'Take a version that is at least so well tried: alpha, beta or stable [default: as well as what is installed]' -r
complete -c link -n "__fish_link_using_subcommand update" -l check -d 'Only tell whether there is a newer version'
complete -c link -n "__fish_link_using_subcommand update" -l again -d 'Also try a version that was given up before'
complete -c link -n "__fish_link_using_subcommand update" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand update" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand update" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand uninstall" -s y -l yes -d 'Do not ask'
complete -c link -n "__fish_link_using_subcommand uninstall" -l force -d 'Delete everything although the backend cannot be told, and print a retire code for it'
complete -c link -n "__fish_link_using_subcommand uninstall" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand uninstall" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand uninstall" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand login" -l email -d 'E-mail of the account; asked for on a terminal' -r
complete -c link -n "__fish_link_using_subcommand login" -l timeout -d 'How long to wait for the browser, such as `60s` or `5m`' -r
complete -c link -n "__fish_link_using_subcommand login" -l token-file -d 'Use a personal access token from the first line of this file; `-` reads it from stdin' -r
complete -c link -n "__fish_link_using_subcommand login" -l backend -d 'Address of the backend [default: LINK_BACKEND_URL, the login\'s, or the installation\'s]' -r
complete -c link -n "__fish_link_using_subcommand login" -l password-stdin -d 'Read the password from the first line of stdin'
complete -c link -n "__fish_link_using_subcommand login" -l device -d 'Let somebody log this machine in with a browser, here or elsewhere'
complete -c link -n "__fish_link_using_subcommand login" -l no-browser -d 'Open no browser here'
complete -c link -n "__fish_link_using_subcommand login" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand login" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand login" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand logout" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand logout" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand logout" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand whoami" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand whoami" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand whoami" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand account; and not __fish_seen_subcommand_from create list use help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand account; and not __fish_seen_subcommand_from create list use help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand account; and not __fish_seen_subcommand_from create list use help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand account; and not __fish_seen_subcommand_from create list use help" -f -a "create" -d 'Create the first account with the setup token of the backend'
complete -c link -n "__fish_link_using_subcommand account; and not __fish_seen_subcommand_from create list use help" -f -a "list" -d 'List the accounts that you belong to'
complete -c link -n "__fish_link_using_subcommand account; and not __fish_seen_subcommand_from create list use help" -f -a "use" -d 'Go to another of your accounts; commands act there from then on'
complete -c link -n "__fish_link_using_subcommand account; and not __fish_seen_subcommand_from create list use help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from create" -l setup-token-file -d 'File that holds the setup token; `-` reads it from the first line of stdin' -r
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from create" -l email -d 'E-mail of the account; asked for on a terminal' -r
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from create" -l backend -d 'Address of the backend [default: LINK_BACKEND_URL, the login\'s, or the installation\'s]' -r
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from create" -l password-stdin -d 'Read the password from the next line of stdin'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from create" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from use" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from use" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from help" -f -a "create" -d 'Create the first account with the setup token of the backend'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the accounts that you belong to'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from help" -f -a "use" -d 'Go to another of your accounts; commands act there from then on'
complete -c link -n "__fish_link_using_subcommand account; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -f -a "list" -d 'List the members of the account, and who is invited'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -f -a "invite" -d 'Make an invitation; its token is shown this once and is good for one member'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -f -a "accept" -d 'Accept an invitation and log in to its account'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -f -a "role" -d 'Give a member another role'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -f -a "remove" -d 'Remove a member, withdraw an invitation, or leave the account'
complete -c link -n "__fish_link_using_subcommand member; and not __fish_seen_subcommand_from list invite accept role remove help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from invite" -l role -d 'What the member may do' -r -f -a "owner\t'Everything; an account has at least one'
admin\t'Everything but what concerns owners'
operator\t'Deploy, serve, repair, update and tag'
viewer\t'See devices, models and deployments'"
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from invite" -l email -d 'Only a user of this e-mail may accept [default: whoever has the token]' -r
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from invite" -l expires-at -d 'When it stops working, such as 2027-01-31T00:00:00Z [default: in seven days]' -r
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from invite" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from invite" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from invite" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from accept" -l token-file -d 'File that holds the invitation\'s token; `-` reads it from the first line of stdin' -r
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from accept" -l email -d 'Make a new user with this e-mail [default: who is logged in joins]' -r
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from accept" -l backend -d 'Address of the backend [default: LINK_BACKEND_URL, the login\'s, or the installation\'s]' -r
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from accept" -l password-stdin -d 'Read the new user\'s password from the next line of stdin'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from accept" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from accept" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from accept" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from role" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from role" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from role" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from remove" -l keys -d 'What becomes of the registration and fleet keys that the member created [default: asked, and without a terminal or with --yes they are revoked]' -r -f -a "revoke\t'No device registers with them afterwards'
take-over\t'They stay good, and you answer for them'"
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from remove" -s y -l yes -d 'Do not ask'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from remove" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the members of the account, and who is invited'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from help" -f -a "invite" -d 'Make an invitation; its token is shown this once and is good for one member'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from help" -f -a "accept" -d 'Accept an invitation and log in to its account'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from help" -f -a "role" -d 'Give a member another role'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove a member, withdraw an invitation, or leave the account'
complete -c link -n "__fish_link_using_subcommand member; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -f -a "create" -d 'Create a personal access token for scripts; it is shown this once'
complete -c link -n "__fish_link_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -f -a "list" -d 'List your tokens for the account, without their secrets'
complete -c link -n "__fish_link_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -f -a "revoke" -d 'Revoke a token: it is good for nothing afterwards'
complete -c link -n "__fish_link_using_subcommand token; and not __fish_seen_subcommand_from create list revoke help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from create" -l name -d 'Name to know it by' -r
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from create" -l scope -d 'What it may be used for; may be given several times' -r
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from create" -l expires-at -d 'When it stops working, such as 2027-01-31T00:00:00Z [default: in 90 days]' -r
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from create" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from revoke" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from revoke" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "create" -d 'Create a personal access token for scripts; it is shown this once'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "list" -d 'List your tokens for the account, without their secrets'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "revoke" -d 'Revoke a token: it is good for nothing afterwards'
complete -c link -n "__fish_link_using_subcommand token; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand audit" -l action -d 'Only this action, such as `member.remove`, or all of a kind, such as `member`' -r
complete -c link -n "__fish_link_using_subcommand audit" -l actor -d 'Only what this user, token or device did, by id' -r
complete -c link -n "__fish_link_using_subcommand audit" -l subject -d 'Only what was done to this, by id' -r
complete -c link -n "__fish_link_using_subcommand audit" -l since -d 'Not before this time, such as 2027-01-31T00:00:00Z' -r
complete -c link -n "__fish_link_using_subcommand audit" -l until -d 'Before this time' -r
complete -c link -n "__fish_link_using_subcommand audit" -l limit -d 'How many entries, the newest first' -r
complete -c link -n "__fish_link_using_subcommand audit" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand audit" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand audit" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand key; and not __fish_seen_subcommand_from create list revoke help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand key; and not __fish_seen_subcommand_from create list revoke help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand key; and not __fish_seen_subcommand_from create list revoke help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand key; and not __fish_seen_subcommand_from create list revoke help" -f -a "create" -d 'Create a key; it is shown this once'
complete -c link -n "__fish_link_using_subcommand key; and not __fish_seen_subcommand_from create list revoke help" -f -a "list" -d 'List the keys of the account, without their secrets'
complete -c link -n "__fish_link_using_subcommand key; and not __fish_seen_subcommand_from create list revoke help" -f -a "revoke" -d 'Revoke a key: no device can register with it afterwards'
complete -c link -n "__fish_link_using_subcommand key; and not __fish_seen_subcommand_from create list revoke help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from create" -l kind -d 'One device, or many' -r -f -a "registration\t'One device'
fleet\t'Many devices'"
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from create" -l name -d 'Name to know it by' -r
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from create" -l expires-at -d 'When it stops working, such as 2027-01-31T00:00:00Z' -r
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from create" -l max-devices -d 'How many devices a fleet key may enrol' -r
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from create" -l tag -d 'Label of the devices that it enrols; may be given several times' -r
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from create" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from revoke" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from revoke" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from help" -f -a "create" -d 'Create a key; it is shown this once'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the keys of the account, without their secrets'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from help" -f -a "revoke" -d 'Revoke a key: no device can register with it afterwards'
complete -c link -n "__fish_link_using_subcommand key; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "list" -d 'List the devices of the account'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "tag" -d 'Give tags to a device'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "untag" -d 'Take tags from a device'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "show" -d 'Show one device'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "update" -d 'Replace the agent of a device by another version; a device that is offline does so later'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "remove" -d 'Remove a device from the account'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "transfer" -d 'Give a device to another account, with a key of that account'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "retire" -d 'Remove a device that was uninstalled while the backend could not be told; needs no login'
complete -c link -n "__fish_link_using_subcommand device; and not __fish_seen_subcommand_from list tag untag show update remove transfer retire help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from list" -l select -d 'Only the devices that fit, such as `tag=lab,state=online`' -r
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from tag" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from tag" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from tag" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from untag" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from untag" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from untag" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from show" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from update" -l to -d 'Version to install' -r
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from update" -l timeout -d 'How long to wait, such as `60s`, `5m` or `1h`' -r
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from update" -l wait -d 'Wait until the device has done it'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from update" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from update" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from update" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from remove" -s y -l yes -d 'Do not ask'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from remove" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from transfer" -l key-file -d 'File with the registration or fleet key of the account that receives it; `-` reads it from stdin [default: ask]' -r
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from transfer" -s y -l yes -d 'Do not ask'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from transfer" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from transfer" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from transfer" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from retire" -l backend -d 'Address of the backend [default: LINK_BACKEND_URL, the login\'s, or the installation\'s]' -r
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from retire" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from retire" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from retire" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the devices of the account'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "tag" -d 'Give tags to a device'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "untag" -d 'Take tags from a device'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one device'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "update" -d 'Replace the agent of a device by another version; a device that is offline does so later'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove a device from the account'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "transfer" -d 'Give a device to another account, with a key of that account'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "retire" -d 'Remove a device that was uninstalled while the backend could not be told; needs no login'
complete -c link -n "__fish_link_using_subcommand device; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand fleet; and not __fish_seen_subcommand_from list show help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand fleet; and not __fish_seen_subcommand_from list show help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand fleet; and not __fish_seen_subcommand_from list show help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand fleet; and not __fish_seen_subcommand_from list show help" -f -a "list" -d 'List the tags of the account\'s devices, with how many are online and which versions they run'
complete -c link -n "__fish_link_using_subcommand fleet; and not __fish_seen_subcommand_from list show help" -f -a "show" -d 'Show the devices with a tag'
complete -c link -n "__fish_link_using_subcommand fleet; and not __fish_seen_subcommand_from list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from show" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the tags of the account\'s devices, with how many are online and which versions they run'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the devices with a tag'
complete -c link -n "__fish_link_using_subcommand fleet; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand commands; and not __fish_seen_subcommand_from list show explain help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand commands; and not __fish_seen_subcommand_from list show explain help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand commands; and not __fish_seen_subcommand_from list show explain help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand commands; and not __fish_seen_subcommand_from list show explain help" -f -a "list" -d 'List what devices were told to do, the newest first'
complete -c link -n "__fish_link_using_subcommand commands; and not __fish_seen_subcommand_from list show explain help" -f -a "show" -d 'Show a command and its result'
complete -c link -n "__fish_link_using_subcommand commands; and not __fish_seen_subcommand_from list show explain help" -f -a "explain" -d 'Say where a command is, why, and what happens next'
complete -c link -n "__fish_link_using_subcommand commands; and not __fish_seen_subcommand_from list show explain help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from list" -l device -d 'Only the commands to this device, by id or by name' -r
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from list" -l limit -d 'How many' -r
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from list" -l open -d 'Only those that something can still happen to'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from show" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from explain" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from explain" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from help" -f -a "list" -d 'List what devices were told to do, the newest first'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a command and its result'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Say where a command is, why, and what happens next'
complete -c link -n "__fish_link_using_subcommand commands; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "list" -d 'List the models that you may deploy, shared ones with their publisher'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "add" -d 'Add a model: upload its file, or name the address that devices fetch it from'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "show" -d 'Show a model and where it is deployed'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "deploy" -d 'Deploy a model to a device, or redeploy it with the current allowlist'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "serve" -d 'Serve a model that is deployed'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "stop" -d 'Stop serving a model; it stays deployed'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "remove" -d 'Delete a model from a device; it stays available to deploy again'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "cancel" -d 'End a deployment that is under way'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "delete" -d 'Delete a model that is deployed nowhere'
complete -c link -n "__fish_link_using_subcommand model; and not __fish_seen_subcommand_from list add show deploy serve stop remove cancel delete help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -l url -d 'Address that devices fetch the file from; the backend keeps no copy' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -l sha256 -d 'SHA-256 of the file at the address' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -l size -d 'Size of the file at the address in bytes [default: asked from its server]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -l name -d 'Name of the model [default: the file\'s, without its extension]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -l file-name -d 'Name of the file on devices [default: the file\'s]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -l plugin -d 'Plugin whose engine runs it' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -l shared -d 'Let every account of the backend deploy it as `publisher/name`, where the backend\'s configuration lets this account share'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from show" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l device -d 'Device, by id or by name [default: this machine\'s]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l select -d 'All devices that fit, such as `tag=lab,state=online`, in place of one' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l port -d 'Port to serve on [default: the one of the deployment before, or 8080]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l alias -d 'Name that clients call it by [default: made from the model\'s name]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l timeout -d 'How long to wait, such as `60s`, `5m` or `1h`' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l serve -d 'Serve it as soon as it is there'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l no-cors -d 'Let no web page call the model'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l no-telemetry -d 'Do not report the token usage of inferences'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l wait -d 'Wait until the device has done it'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from deploy" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from serve" -l device -d 'Device, by id or by name [default: this machine\'s]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from serve" -l timeout -d 'How long to wait, such as `60s`, `5m` or `1h`' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from serve" -l port -d 'Port to serve on from now on [default: the current one]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from serve" -l wait -d 'Wait until the device has done it'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from serve" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from serve" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from serve" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from stop" -l device -d 'Device, by id or by name [default: this machine\'s]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from stop" -l timeout -d 'How long to wait, such as `60s`, `5m` or `1h`' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from stop" -l wait -d 'Wait until the device has done it'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from stop" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from stop" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from remove" -l device -d 'Device, by id or by name [default: this machine\'s]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from remove" -l timeout -d 'How long to wait, such as `60s`, `5m` or `1h`' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from remove" -l wait -d 'Wait until the device has done it'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from remove" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from cancel" -l device -d 'Device, by id or by name [default: this machine\'s]' -r
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from cancel" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from cancel" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from cancel" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from delete" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from delete" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the models that you may deploy, shared ones with their publisher'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "add" -d 'Add a model: upload its file, or name the address that devices fetch it from'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show a model and where it is deployed'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "deploy" -d 'Deploy a model to a device, or redeploy it with the current allowlist'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "serve" -d 'Serve a model that is deployed'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "stop" -d 'Stop serving a model; it stays deployed'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Delete a model from a device; it stays available to deploy again'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "cancel" -d 'End a deployment that is under way'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "delete" -d 'Delete a model that is deployed nowhere'
complete -c link -n "__fish_link_using_subcommand model; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand run" -l port -d 'Port to serve on [default: the one of the deployment before, or 8080]' -r
complete -c link -n "__fish_link_using_subcommand run" -l system -d 'System prompt' -r
complete -c link -n "__fish_link_using_subcommand run" -l temperature -d 'Sampling temperature, from 0 to 10 [default: the engine\'s]' -r
complete -c link -n "__fish_link_using_subcommand run" -l max-tokens -d 'Largest number of tokens in an answer [default: the engine\'s]' -r
complete -c link -n "__fish_link_using_subcommand run" -l seed -d 'Seed of the sampling [default: random]' -r
complete -c link -n "__fish_link_using_subcommand run" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand run" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand run" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand chat" -l system -d 'System prompt' -r
complete -c link -n "__fish_link_using_subcommand chat" -l temperature -d 'Sampling temperature, from 0 to 10 [default: the engine\'s]' -r
complete -c link -n "__fish_link_using_subcommand chat" -l max-tokens -d 'Largest number of tokens in an answer [default: the engine\'s]' -r
complete -c link -n "__fish_link_using_subcommand chat" -l seed -d 'Seed of the sampling [default: random]' -r
complete -c link -n "__fish_link_using_subcommand chat" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand chat" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand chat" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand repair-serving" -l device -d 'Device, by id or by name [default: this machine\'s]' -r
complete -c link -n "__fish_link_using_subcommand repair-serving" -l select -d 'All devices that fit, such as `tag=lab,state=online`, in place of one' -r
complete -c link -n "__fish_link_using_subcommand repair-serving" -l port -d 'Serve on this port from then on [default: the current one]' -r
complete -c link -n "__fish_link_using_subcommand repair-serving" -l timeout -d 'How long to wait, such as `60s`, `5m` or `1h`' -r
complete -c link -n "__fish_link_using_subcommand repair-serving" -l wait -d 'Wait until the device has done it'
complete -c link -n "__fish_link_using_subcommand repair-serving" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand repair-serving" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand repair-serving" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand allowlist; and not __fish_seen_subcommand_from list add remove help" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand allowlist; and not __fish_seen_subcommand_from list add remove help" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand allowlist; and not __fish_seen_subcommand_from list add remove help" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand allowlist; and not __fish_seen_subcommand_from list add remove help" -f -a "list" -d 'Show the account\'s origins, and the defaults of the backend'
complete -c link -n "__fish_link_using_subcommand allowlist; and not __fish_seen_subcommand_from list add remove help" -f -a "add" -d 'Add an origin for this account; models that are already deployed need a repair or a redeployment to get it'
complete -c link -n "__fish_link_using_subcommand allowlist; and not __fish_seen_subcommand_from list add remove help" -f -a "remove" -d 'Remove an origin of this account'
complete -c link -n "__fish_link_using_subcommand allowlist; and not __fish_seen_subcommand_from list add remove help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from list" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from add" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from add" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from remove" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show the account\'s origins, and the defaults of the backend'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from help" -f -a "add" -d 'Add an origin for this account; models that are already deployed need a repair or a redeployment to get it'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from help" -f -a "remove" -d 'Remove an origin of this account'
complete -c link -n "__fish_link_using_subcommand allowlist; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand completions" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand completions" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand completions" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand self-check" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand self-check" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand self-check" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand verify-files" -l from -d 'Folder of the unpacked release [default: what is installed, if it is intact]' -r -F
complete -c link -n "__fish_link_using_subcommand verify-files" -l archive -d 'SHA-256 of the archive that it came out of' -r
complete -c link -n "__fish_link_using_subcommand verify-files" -l release -d 'Version that it must have' -r
complete -c link -n "__fish_link_using_subcommand verify-files" -l backend -d 'The backend, not the agent'
complete -c link -n "__fish_link_using_subcommand verify-files" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand verify-files" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand verify-files" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand install-files" -l from -d 'Folder that holds `link` and `link-agent` [default: what is installed, if it is intact]' -r -F
complete -c link -n "__fish_link_using_subcommand install-files" -l archive -d 'SHA-256 of the archive that it came out of' -r
complete -c link -n "__fish_link_using_subcommand install-files" -l made -d 'Outermost folder that was made for this installation' -r -F
complete -c link -n "__fish_link_using_subcommand install-files" -l source -d 'Address of the folder that later releases come from' -r
complete -c link -n "__fish_link_using_subcommand install-files" -l dry-run -d 'Say what would be done, and do nothing'
complete -c link -n "__fish_link_using_subcommand install-files" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand install-files" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand install-files" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand install-backend" -l from -d 'Folder that holds `link` and `link-agent` [default: what is installed, if it is intact]' -r -F
complete -c link -n "__fish_link_using_subcommand install-backend" -l archive -d 'SHA-256 of the archive that it came out of' -r
complete -c link -n "__fish_link_using_subcommand install-backend" -l made -d 'Outermost folder that was made for this installation' -r -F
complete -c link -n "__fish_link_using_subcommand install-backend" -l source -d 'Address of the folder that later releases come from' -r
complete -c link -n "__fish_link_using_subcommand install-backend" -l dry-run -d 'Say what would be done, and do nothing'
complete -c link -n "__fish_link_using_subcommand install-backend" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand install-backend" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand install-backend" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand uninstall-backend" -s y -l yes -d 'Do not ask'
complete -c link -n "__fish_link_using_subcommand uninstall-backend" -l purge -d 'Delete the data and the configuration too'
complete -c link -n "__fish_link_using_subcommand uninstall-backend" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand uninstall-backend" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand uninstall-backend" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand refresh-files" -l json -d 'Print data as JSON on stdout, and an error as one JSON document on stderr'
complete -c link -n "__fish_link_using_subcommand refresh-files" -s q -l quiet -d 'Print only data and errors'
complete -c link -n "__fish_link_using_subcommand refresh-files" -s h -l help -d 'Print help'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "register" -d 'Register this device with a key'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "status" -d 'Show the agent, its connection and its models'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "start" -d 'Start the agent'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "stop" -d 'Stop the agent; models are not served while it is stopped'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "restart" -d 'Stop the agent if it runs, and start it'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "update" -d 'Update Link on this machine'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "uninstall" -d 'Deregister this device, stop the agent and delete everything that was installed'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "login" -d 'Log in to a backend'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "logout" -d 'Forget the login and revoke it'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "whoami" -d 'Show who is logged in'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "account" -d 'Create the first account of a backend; list your accounts and go to another'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "member" -d 'List, invite and remove the members of the account'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "token" -d 'Create, list and revoke personal access tokens for scripts'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "audit" -d 'Show who did what in the account'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "key" -d 'Create, list and revoke the keys that devices register with'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "device" -d 'List, show, tag, update and remove devices'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "fleet" -d 'List tags, and show the devices that have one'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "commands" -d 'List what devices were told to do, and explain what became of it'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "model" -d 'Add models, deploy them, serve them'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "run" -d 'Chat with a model on this machine; deploy and serve it first if that is not done yet'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "chat" -d 'Chat with a model that is served on this machine'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "repair-serving" -d 'Correct the allowlist of a model that is served, in place'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "allowlist" -d 'Show and change the web origins that the account\'s deployments carry from now on'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "completions" -d 'Print the completions for a shell'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "self-check" -d 'Tell whether this program runs here'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "verify-files" -d 'Tell whether an unpacked release is one by a trusted key'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "install-files" -d 'Lay out an unpacked release, register and start'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "install-backend" -d 'Lay out the backend of an unpacked release and start it'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "uninstall-backend" -d 'Take the backend away'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "refresh-files" -d 'Write the completions and the manual pages of this version'
complete -c link -n "__fish_link_using_subcommand help; and not __fish_seen_subcommand_from register status start stop restart update uninstall login logout whoami account member token audit key device fleet commands model run chat repair-serving allowlist completions self-check verify-files install-files install-backend uninstall-backend refresh-files help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from account" -f -a "create" -d 'Create the first account with the setup token of the backend'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from account" -f -a "list" -d 'List the accounts that you belong to'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from account" -f -a "use" -d 'Go to another of your accounts; commands act there from then on'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from member" -f -a "list" -d 'List the members of the account, and who is invited'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from member" -f -a "invite" -d 'Make an invitation; its token is shown this once and is good for one member'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from member" -f -a "accept" -d 'Accept an invitation and log in to its account'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from member" -f -a "role" -d 'Give a member another role'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from member" -f -a "remove" -d 'Remove a member, withdraw an invitation, or leave the account'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "create" -d 'Create a personal access token for scripts; it is shown this once'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "list" -d 'List your tokens for the account, without their secrets'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from token" -f -a "revoke" -d 'Revoke a token: it is good for nothing afterwards'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from key" -f -a "create" -d 'Create a key; it is shown this once'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from key" -f -a "list" -d 'List the keys of the account, without their secrets'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from key" -f -a "revoke" -d 'Revoke a key: no device can register with it afterwards'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "list" -d 'List the devices of the account'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "tag" -d 'Give tags to a device'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "untag" -d 'Take tags from a device'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "show" -d 'Show one device'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "update" -d 'Replace the agent of a device by another version; a device that is offline does so later'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "remove" -d 'Remove a device from the account'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "transfer" -d 'Give a device to another account, with a key of that account'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from device" -f -a "retire" -d 'Remove a device that was uninstalled while the backend could not be told; needs no login'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "list" -d 'List the tags of the account\'s devices, with how many are online and which versions they run'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from fleet" -f -a "show" -d 'Show the devices with a tag'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from commands" -f -a "list" -d 'List what devices were told to do, the newest first'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from commands" -f -a "show" -d 'Show a command and its result'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from commands" -f -a "explain" -d 'Say where a command is, why, and what happens next'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "list" -d 'List the models that you may deploy, shared ones with their publisher'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "add" -d 'Add a model: upload its file, or name the address that devices fetch it from'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "show" -d 'Show a model and where it is deployed'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "deploy" -d 'Deploy a model to a device, or redeploy it with the current allowlist'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "serve" -d 'Serve a model that is deployed'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "stop" -d 'Stop serving a model; it stays deployed'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "remove" -d 'Delete a model from a device; it stays available to deploy again'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "cancel" -d 'End a deployment that is under way'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from model" -f -a "delete" -d 'Delete a model that is deployed nowhere'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from allowlist" -f -a "list" -d 'Show the account\'s origins, and the defaults of the backend'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from allowlist" -f -a "add" -d 'Add an origin for this account; models that are already deployed need a repair or a redeployment to get it'
complete -c link -n "__fish_link_using_subcommand help; and __fish_seen_subcommand_from allowlist" -f -a "remove" -d 'Remove an origin of this account'

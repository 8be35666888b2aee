/**
 * Variables that decide what the programs of a command do.
 *
 * @module
 */

/** Variables whose value is a command, or decides which programs run. */
export const EVALUATED_VARIABLES =
  /^(?:PATH|PS[0-4]|ENV|BASH_.*|SHELLOPTS|PROMPT_COMMAND|LD_.*|DYLD_.*|GIT_(?!(?:AUTHOR|COMMITTER)_|TERMINAL_PROMPT$|OPTIONAL_LOCKS$|MERGE_AUTOEDIT$|LFS_SKIP_SMUDGE$|TRACE|CURL_VERBOSE$).*|.*EDITOR|VISUAL|.*PAGER|.*_COMMAND|RSYNC_RSH|LESS(?:OPEN|CLOSE)|PERL5(?:OPT|DB)|RUBYOPT|PYTHONSTARTUP|.*_OPTIONS|(?:GNU)?MAKEFLAGS|(?:EX|G?VIM)INIT|LUA_INIT.*|MANOPT|LESS|GOFLAGS|RUSTC(?:_WORKSPACE)?_WRAPPER|RSYNC_CONNECT_PROG|(?:CVS|SVN)_[RS]SH|npm_config_(?:node_options|(?:script_)?shell)|.*SHELL)$/;

/** Functions of `make` that run commands, in the value of any variable. */
export const MAKE_FUNCTION = /\$[({](?:call|eval|file|foreach|guile|shell)\b/;

/** Variables that decide which directories and options programs use, where a loop, an expansion or an input sets them. */
const PLACE_VARIABLES = /^(?:CDPATH|HOME|OLDPWD|PWD|RIPGREP_CONFIG_PATH)$/;

/** Variables of bash whose value is an expression: to assign them evaluates the substitutions in it. */
const EXPRESSION_VARIABLES = /^(?:BASHPID|HISTCMD|LINENO|OPTIND|S?RANDOM|SECONDS)$/;

/** Whether a variable decides which programs run, or which directories and options they use, or is evaluated. */
export function decidesEffects(name: string): boolean {
  return EVALUATED_VARIABLES.test(name) || PLACE_VARIABLES.test(name) || isExpression(name);
}

/** Whether the value of a variable is an expression. */
export function isExpression(name: string): boolean {
  return EXPRESSION_VARIABLES.test(name);
}

/** Directories of programs that `PATH` may have besides those before. */
const PATH_ENTRY =
  /^(?:\$\{?PATH\}?|(?:~|\$\{?(?:HOME|PWD|VIRTUAL_ENV)\}?|\$\(pwd\))?[\w./@+-]*\/\.?s?bin)$/;

/** Options of Node that load no code. */
const NODE_OPTIONS =
  /^\s*(?:--(?:max-old-space-size=\d+|no-warnings|no-deprecation|trace-warnings|trace-deprecation|enable-source-maps|unhandled-rejections=\w+|openssl-legacy-provider|experimental-(?:vm-modules|strip-types|transform-types))\s*)*$/;

/** Options of ssh with which it starts no other program here. */
const PLAIN_SSH =
  /^ssh(?:\s+-(?:[46ACqTvxX]+|[ip]\s*[\w./~@-]+|o\s*(?:StrictHostKeyChecking|UserKnownHostsFile|Identit(?:iesOnly|yFile)|ConnectTimeout|BatchMode|LogLevel)=[\w./~-]+))*\s*$/;

/** Whether a command with which another program connects is ssh with plain options. */
export function startsPlainSsh(command: string): boolean {
  return PLAIN_SSH.test(command);
}

/** Whether a value of such a variable is a common one that starts no unknown program. */
export function isPlainValue(name: string, value: string, literal: boolean): boolean {
  if (name === "PATH") return value.split(":").every((entry) => PATH_ENTRY.test(entry));
  if (!literal) return false;
  if (/^(?:NODE_OPTIONS|npm_config_node_options)$/.test(name)) return NODE_OPTIONS.test(value);
  if (name === "LESS") return /^[^+!]*$/.test(value);
  if (name === "GOFLAGS") return !/exec|vettool/.test(value);
  if (name.endsWith("_WRAPPER")) return /^(?:s?ccache|clippy-driver)?$/.test(value);
  if (name.endsWith("MAKEFLAGS")) return /^[\w\s=.-]*$/.test(value) && !/SHELL/.test(value);
  if (name === "GIT_SSH_COMMAND" || name === "RSYNC_RSH") return startsPlainSsh(value);
  return /PAGER$|EDITOR$|^VISUAL$/.test(name) && /^(?:cat|true|:)?$/.test(value);
}

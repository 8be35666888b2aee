/**
 * Scripts that complete command lines in a shell, generated from the table of commands.
 *
 * @module
 */

import {
  type CommandDefinition,
  type CommandPath,
  formatValue,
  getVisibleOptions,
  type NamedOption,
} from "./definition.ts";

/** Creates the script for a shell: `bash`, `zsh` or `fish`. */
export function createCompletionScript(shell: string, definition: CommandDefinition): string {
  const program = addDefaultOptions(definition);
  switch (shell) {
    case "fish":
      return createFishScript(program);
    case "zsh":
      return createZshScript(program);
    default:
      return createBashScript(program);
  }
}

/** Returns a command with the options of its default command, which its own command line may have, too: `swink -c`. */
function addDefaultOptions(command: CommandDefinition): CommandDefinition {
  const { commands = [], defaultCommand, options } = command;
  const fallback = commands.find(({ name }) => name === defaultCommand);
  return fallback ? { ...command, options: { ...fallback.options, ...options } } : command;
}

function createBashScript(program: CommandDefinition): string {
  const { name, shorthands = {} } = program;
  const targets = listCommands({ command: program, path: name });
  const subcommands = targets.filter(({ path }) => path !== name);
  const aliases = Object.entries(shorthands).map(([flag, command]) =>
    `    "${name} ${flag}") target=${quote(`${name} ${command}`)} ;;`
  );
  return `# Completes the commands and options of ${name}. In ~/.bashrc: source <(${name} completions bash)
# Adds the first column of the lines that the program prints. compgen -W would run commands in them.
_${name}_lines() {
  local line
  while IFS= read -r line; do
    line=\${line%%  *}
    [[ $line == "$current"* ]] && COMPREPLY+=("$(printf %q "$line")")
  done < <(command ${name} "$@" 2> /dev/null)
}
# Adds the paths that begin with the current word; -d only directories. They may contain blanks.
_${name}_paths() {
  local line
  compopt -o filenames 2> /dev/null
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$1" -- "$current")
}
# Adds the words that can follow those before the current one.
_${name}_words() {
  local target=${name} words word lines files flags
  for word in "\${COMP_WORDS[@]:1:\$((COMP_CWORD - 1))}"; do
    case "$target $word" in
    ${subcommands.map(({ path }) => quote(path)).join("|")}) target="$target $word" ;;
${aliases.join("\n")}
    esac
  done
  COMPREPLY=()
  case "$target $previous" in
${targets.flatMap(createValueCases).join("\n")}
  esac
  case $target in
${targets.map((target) => `  ${quote(target.path)}) ${createBashWords(target)} ;;`).join("\n")}
  esac
  if [[ $current == -* ]]; then words+=" $flags"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $lines && $current != -* ]]; then _${name}_lines $lines; fi
  if [[ $files && $current != -* ]]; then _${name}_paths -f; fi
}
# Bash makes three words of --flag=value, and zsh one, which then begins all completions.
_${name}() {
  local current=\${COMP_WORDS[\$COMP_CWORD]} previous=\${COMP_WORDS[\$((COMP_CWORD - 1))]} prefix= index
  if [[ $previous == "=" ]]; then
    previous=\${COMP_WORDS[\$((COMP_CWORD - 2))]}
  elif [[ $current == "=" ]]; then
    current=
  elif [[ $current == --*=* ]]; then
    previous=\${current%%=*} current=\${current#*=} prefix=$previous=
    # The compgen of zsh completes the paths that begin with it.
    local PREFIX=$current
  fi
  _${name}_words
  if [[ $prefix ]]; then
    for ((index = 0; index < \${#COMPREPLY[@]}; index++)); do
      COMPREPLY[\$index]=$prefix\${COMPREPLY[\$index]}
    done
  fi
}
complete -F _${name} ${name}
`;
}

/** Lists a command and all commands below it. */
function listCommands(target: CommandPath): CommandPath[] {
  const { command: { commands = [] }, path } = target;
  return [
    target,
    ...commands.flatMap((command) => listCommands({ command, path: `${path} ${command.name}` })),
  ];
}

/**
 * Sets the words that can follow a command, the arguments that print others, and whether files can. Where subcommands
 * can follow, flags are offered only after a dash, since there are more flags of a conversation than subcommands.
 */
function createBashWords({ command }: CommandPath): string {
  const { arguments: positionals = [], commands = [], shorthands = {} } = command;
  const completer = positionals.find(({ completer }) => completer !== undefined)?.completer;
  const words = getWords(command);
  const flags = getVisibleOptions(command).flatMap(({ flags }) => flags);
  const sets = commands.length > 0
    ? { words, flags: [...Object.keys(shorthands), ...flags] }
    : { words: [...words, ...flags] };
  return [
    ...Object.entries(sets).map(([variable, list]) => `${variable}=${quote(list.join(" "))}`),
    ...(completer === undefined ? [] : [`lines=${quote(completer)}`]),
    ...(positionals.some(({ isFile }) => isFile) ? ["files=1"] : []),
  ].join(" ");
}

/** Returns the words that can follow a command, without flags: subcommands and valid arguments. */
function getWords({ commands = [], arguments: positionals = [] }: CommandDefinition): string[] {
  return [
    ...commands.map(({ name }) => name),
    ...positionals.flatMap(({ choices = [], suggestions = choices }) => suggestions),
  ];
}

/** Creates the cases for values of options: choices and paths are completed, other values are not. */
function createValueCases({ command, path }: CommandPath): string[] {
  const [program] = path.split(" ");
  return getVisibleOptions(command).filter(({ type }) => type !== "boolean").map((option) => {
    const patterns = option.flags.map((flag) => quote(`${path} ${flag}`)).join("|");
    return `  ${patterns}) ${createBashValues(option, `_${program}`)}return ;;`;
  });
}

function createBashValues(
  { type, choices, suggestions = choices, completer }: NamedOption,
  prefix: string,
): string {
  if (completer !== undefined) return `${prefix}_lines ${completer}; `;
  if (suggestions) {
    return `COMPREPLY=($(compgen -W ${quote(suggestions.join(" "))} -- "$current")); `;
  }
  if (type !== "directory" && type !== "file") return "";
  return `${prefix}_paths ${type === "directory" ? "-d" : "-f"}; `;
}

/** Creates a script in which zsh loads the one for bash. */
function createZshScript(program: CommandDefinition): string {
  return `# In ~/.zshrc: source <(${program.name} completions zsh)
(( $+functions[compdef] )) || { autoload -U +X compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
${createBashScript(program)}`;
}

function createFishScript(program: CommandDefinition): string {
  const targets = listCommands({ command: program, path: program.name });
  return `# In ~/.config/fish/config.fish: ${program.name} completions fish | source
${targets.flatMap(createFishLines).join("\n")}
`;
}

function createFishLines({ command, path }: CommandPath): string[] {
  const [program = "", ...names] = path.split(" ");
  const { commands = [], arguments: positionals = [] } = command;
  const isUsed = (words: string) => `__fish_seen_subcommand_from ${words}`;
  const subcommands = commands.map(({ name }) => name).join(" ");
  const conditions = [
    ...names.map(isUsed),
    ...(subcommands === "" ? [] : [`not ${isUsed(subcommands)}`]),
  ];
  const condition = names.length === 0 ? "__fish_use_subcommand" : quote(conditions.join("; and "));
  const prefix = `complete -c ${program} -n ${condition}`;
  // An option of the program may follow a prompt, or the value of another one, which fish takes for a subcommand.
  const optionPrefix = `complete -c ${program} -n ${quote(conditions.join("; and "))}`;
  const hasFiles = positionals.some(({ isFile }) => isFile);
  return [
    ...(hasFiles ? [] : [`${prefix} -f`]),
    ...commands.map(({ name, summary }) => `${prefix} -f -a ${name} -d ${quote(summary)}`),
    ...positionals.flatMap(({ choices = [], suggestions = choices }) => suggestions).map((choice) =>
      `${prefix} -f -a ${choice}`
    ),
    ...positionals.flatMap(({ completer }) =>
      completer === undefined ? [] : [`${prefix} -f -a ${quote(getFishLines(program, completer))}`]
    ),
    ...getVisibleOptions(command).map((option) =>
      `${optionPrefix} ${formatFishOption(option, program)}`
    ),
  ];
}

/** Returns the command that prints the first column of the lines of the program. */
function getFishLines(program: string, completer: string): string {
  return `(command ${program} ${completer} 2>/dev/null | string replace -r "  .*" "")`;
}

function formatFishOption(option: NamedOption, program: string): string {
  const flags = option.flags.map((flag) =>
    flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`
  );
  const value = formatValue(option) === "" ? [] : [getFishSource(option, program)];
  return [...flags, ...value, "-d", quote(option.description)].join(" ");
}

function getFishSource(
  { type, choices, suggestions = choices, completer }: NamedOption,
  program: string,
): string {
  if (completer !== undefined) return `-x -a ${quote(getFishLines(program, completer))}`;
  if (suggestions) return `-x -a ${quote(suggestions.join(" "))}`;
  if (type === "directory") return "-x -a '(__fish_complete_directories)'";
  return type === "file" ? "-r" : "-x";
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

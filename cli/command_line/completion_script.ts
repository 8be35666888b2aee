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
export function createCompletionScript(shell: string, program: CommandDefinition): string {
  switch (shell) {
    case "fish":
      return createFishScript(program);
    case "zsh":
      return createZshScript(program);
    default:
      return createBashScript(program);
  }
}

function createBashScript(program: CommandDefinition): string {
  const { name, shorthands = {} } = program;
  const targets = listCommands({ command: program, path: name });
  const subcommands = targets.filter(({ path }) => path !== name);
  const aliases = Object.entries(shorthands).map(([flag, command]) =>
    `    "${name} ${flag}") path=${quote(`${name} ${command}`)} ;;`
  );
  return `# Completes the commands and options of ${name}. In ~/.bashrc: source <(${name} completions bash)
_${name}() {
  local path=${name} words word current=\${COMP_WORDS[COMP_CWORD]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
    ${subcommands.map(({ path }) => quote(path)).join("|")}) path="$path $word" ;;
${aliases.join("\n")}
    esac
  done
  COMPREPLY=()
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${targets.flatMap(createValueCases).join("\n")}
  esac
  case $path in
${
    targets.map((target) => `  ${quote(target.path)}) words=${quote(getWords(target))} ;;`).join(
      "\n",
    )
  }
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
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

/** Returns the words that can follow a command, separated by spaces: subcommands, valid arguments, flags. */
function getWords({ command }: CommandPath): string {
  const { commands = [], arguments: positionals = [] } = command;
  return [
    ...commands.map(({ name }) => name),
    ...positionals.flatMap(({ choices = [], suggestions = choices }) => suggestions),
    ...getVisibleOptions(command).flatMap(({ flags }) => flags),
  ].join(" ");
}

/** Creates the cases for values of options: choices and paths are completed, other values are not. */
function createValueCases({ command, path }: CommandPath): string[] {
  return getVisibleOptions(command).filter(({ type }) => type !== "boolean").map((option) => {
    const patterns = option.flags.map((flag) => quote(`${path} ${flag}`)).join("|");
    const source = getCompgenSource(option);
    if (source === "") return `  ${patterns}) return ;;`;
    // Otherwise files are offered when no directory matches.
    const noFiles = option.type === "directory" ? "compopt +o default 2> /dev/null; " : "";
    return `  ${patterns}) ${noFiles}COMPREPLY=($(compgen ${source} -- "$current")); return ;;`;
  });
}

function getCompgenSource({ type, choices, suggestions = choices }: NamedOption): string {
  if (suggestions) return `-W ${quote(suggestions.join(" "))}`;
  if (type === "directory") return "-d";
  return type === "file" ? "-f" : "";
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
  const last = names.at(-1);
  const condition = last === undefined
    ? "__fish_use_subcommand"
    : quote(`__fish_seen_subcommand_from ${last}`);
  const prefix = `complete -c ${program} -n ${condition}`;
  return [
    ...commands.map(({ name, summary }) => `${prefix} -f -a ${name} -d ${quote(summary)}`),
    ...positionals.flatMap(({ choices = [], suggestions = choices }) => suggestions).map((choice) =>
      `${prefix} -f -a ${choice}`
    ),
    ...getVisibleOptions(command).map((option) => `${prefix} ${formatFishOption(option)}`),
  ];
}

function formatFishOption(option: NamedOption): string {
  const flags = option.flags.map((flag) =>
    flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`
  );
  const value = formatValue(option) === "" ? [] : [getFishSource(option)];
  return [...flags, ...value, "-d", quote(option.description)].join(" ");
}

function getFishSource({ type, choices, suggestions = choices }: NamedOption): string {
  if (suggestions) return `-x -a ${quote(suggestions.join(" "))}`;
  if (type === "directory") return "-x -a '(__fish_complete_directories)'";
  return type === "file" ? "-r" : "-x";
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

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
  const below = targets.filter(({ path }) => path !== name);
  const aliases = Object.entries(shorthands).map(([flag, command]) =>
    `    "${name} ${flag}") path=${quote(`${name} ${command}`)} ;;`
  );
  return `# Completes the commands and options of ${name}. In ~/.bashrc: source <(${name} completions bash)
_${name}() {
  local path=${name} words word current=\${COMP_WORDS[COMP_CWORD]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
    ${below.map(({ path }) => quote(path)).join("|")}) path="$path $word" ;;
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

/** Words that can follow a command: subcommands, values of arguments, flags. */
function getWords({ command }: CommandPath): string {
  const { commands = [], arguments: places = [] } = command;
  return [
    ...commands.map(({ name }) => name),
    ...places.flatMap(({ choices = [] }) => choices),
    ...getVisibleOptions(command).flatMap(({ flags }) => flags),
  ].join(" ");
}

/** Completes the values of options: choices and paths; other values get no completions. */
function createValueCases({ command, path }: CommandPath): string[] {
  return getVisibleOptions(command).filter(({ type }) => type !== "boolean").map((option) => {
    const patterns = option.flags.map((flag) => quote(`${path} ${flag}`)).join("|");
    const source = getCompgenSource(option);
    return source === ""
      ? `  ${patterns}) return ;;`
      : `  ${patterns}) COMPREPLY=($(compgen ${source} -- "$current")); return ;;`;
  });
}

function getCompgenSource({ type, choices }: NamedOption): string {
  if (choices) return `-W ${quote(choices.join(" "))}`;
  if (type === "directory") return "-d";
  return type === "file" ? "-f" : "";
}

/** zsh loads the script of bash. */
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
  const { commands = [], arguments: places = [] } = command;
  const last = names.at(-1);
  const condition = last === undefined
    ? "__fish_use_subcommand"
    : quote(`__fish_seen_subcommand_from ${last}`);
  const start = `complete -c ${program} -n ${condition}`;
  return [
    ...commands.map(({ name, summary }) => `${start} -f -a ${name} -d ${quote(summary)}`),
    ...places.flatMap(({ choices = [] }) => choices).map((choice) => `${start} -f -a ${choice}`),
    ...getVisibleOptions(command).map((option) => `${start} ${formatFishOption(option)}`),
  ];
}

function formatFishOption(option: NamedOption): string {
  const flags = option.flags.map((flag) =>
    flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`
  );
  const value = formatValue(option) === "" ? [] : [getFishSource(option)];
  return [...flags, ...value, "-d", quote(option.description)].join(" ");
}

function getFishSource({ type, choices }: NamedOption): string {
  if (choices) return `-x -a ${quote(choices.join(" "))}`;
  if (type === "directory") return "-x -a '(__fish_complete_directories)'";
  return type === "file" ? "-r" : "-x";
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

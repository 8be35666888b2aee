/**
 * Scripts by which shells complete the commands and options of `swink`.
 *
 * @module
 */

import { UsageError } from "./cli_error.ts";
import { type CommandShape, type OptionShape, parseOptionValue } from "./command_shape.ts";

const SHELLS: Readonly<Record<string, (root: CommandShape) => string>> = {
  bash: createBashScript,
  zsh: createZshScript,
  fish: createFishScript,
};

/**
 * The script for a shell.
 *
 * @throws {UsageError} When there is none for it.
 */
export function createCompletionScript(shell: string, root: CommandShape): string {
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (write) return write(root);
  const names = Object.keys(SHELLS).join(", ");
  throw new UsageError(`There are no completions for ${JSON.stringify(shell)}`, `Choose: ${names}`);
}

function createBashScript(root: CommandShape): string {
  const name = root.getName();
  const cases = root.getCommands().map((command) =>
    `    ${command.getName()}) words=${quoteForShell(getFlags(command).join(" "))} ;;`
  );
  return `# Completes the commands and options of ${name}; for ~/.bashrc: source <(${name} completions bash)
_${name}() {
  local words current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  case $previous in
    ${getFileFlags(root).join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    --output-format|-o) COMPREPLY=($(compgen -W "text json stream-json" -- "$current")); return ;;
  esac
  case \${COMP_WORDS[1]} in
${cases.join("\n")}
    *) words=${quoteForShell([...getCommandNames(root), ...getFlags(root)].join(" "))} ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}

/** zsh reads bash's completions. */
function createZshScript(root: CommandShape): string {
  return `# For ~/.zshrc: source <(${root.getName()} completions zsh)
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${createBashScript(root)}`;
}

function createFishScript(root: CommandShape): string {
  const name = root.getName();
  const commands = root.getCommands();
  const lines = commands.map((command) =>
    `complete -c ${name} -n __fish_use_subcommand -f -a ${command.getName()} -d ${
      quoteForShell(command.getDescription())
    }`
  );
  for (const command of commands) {
    const condition = quoteForShell(`__fish_seen_subcommand_from ${command.getName()}`);
    for (const option of command.getOptions()) {
      lines.push(`complete -c ${name} -n ${condition} ${formatFishFlags(option)}`);
    }
  }
  return `# For ~/.config/fish/completions/${name}.fish\n${lines.join("\n")}\n`;
}

function formatFishFlags(option: OptionShape): string {
  const flags = option.flags.map((flag) =>
    flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`
  );
  const value = parseOptionValue(option) ? "-r" : "";
  return [...flags, value, "-d", quoteForShell(option.description)].filter((part) => part !== "")
    .join(
      " ",
    );
}

function getCommandNames(root: CommandShape): string[] {
  return root.getCommands().map((command) => command.getName());
}

function getFlags(command: CommandShape): string[] {
  return command.getOptions().flatMap(({ flags }) => flags);
}

/** Flags whose value is a path. */
function getFileFlags(root: CommandShape): string[] {
  const options = root.getCommands().flatMap((command) => command.getOptions());
  return options.filter((option) => /^(file|folder)$/.test(parseOptionValue(option)?.name ?? ""))
    .flatMap(({ flags }) => flags);
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

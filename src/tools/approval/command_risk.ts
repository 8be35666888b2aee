/**
 * Risk classes of shell commands.
 *
 * @module
 */

import type { RiskClass } from "../../core/approval/risk.ts";
import type { SimpleCommand } from "../kit/simple_command.ts";
import {
  type ExecutedCommands,
  findExecutedCommands,
  getProgram,
} from "./commands/executed_commands.ts";
import { isHarmlessCommand } from "./commands/harmless_commands.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Programs that connect to other machines, whatever their arguments. */
const NETWORK_PROGRAMS: ReadonlySet<string> = words(
  "curl wget aria2c http https xh ssh scp sftp rsync nc ncat netcat socat telnet ftp tftp ping traceroute dig host " +
    "nslookup whois npx bunx pnpx uvx pipx gh glab hub aws gcloud gsutil az kubectl helm terraform ansible heroku " +
    "vercel netlify flyctl wrangler firebase psql mysql redis-cli mongosh apt apt-get aptitude dnf yum zypper pacman " +
    "apk brew snap flatpak docker podman mail sendmail twine",
);

/** Sub-commands with which programs connect to other machines. */
const NETWORK_COMMANDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    "git",
    words(
      "push fetch pull clone ls-remote submodule remote send-email lfs svn p4 request-pull archive",
    ),
  ],
  ["bun", words("install i add a update upgrade outdated publish create x pm")],
  ["deno", words("add install i upgrade outdated update publish deploy cache jsr x remote")],
  ["cargo", words("install fetch publish add update search login owner yank")],
  ["go", words("get install mod work")],
]);

/** Sub-commands with which package managers do not connect to other machines; with all others they may. */
const LOCAL_COMMANDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["npm", words("run run-script test t start stop restart explain ls list root prefix pack help")],
  ["pnpm", words("run test t start exec why ls list root bin help")],
  ["yarn", words("run test start exec why list bin help")],
  ["pip", words("list show freeze check inspect debug help")],
  ["pip3", words("list show freeze check inspect debug help")],
  ["uv", words("run version help tree")],
  ["poetry", words("run show check version env help")],
  ["gem", words("list contents environment help which")],
  ["bundle", words("exec list show check help")],
  ["composer", words("run-script run validate show help")],
]);

/**
 * Returns the risk class of a shell command: `read` if each of its parts is of a form that is known to be read-only,
 * `network` if a part connects to another machine by itself or cannot be determined, otherwise `execute`.
 */
export function getCommandRisk(command: string): RiskClass {
  return getScriptRisk(findExecutedCommands(command));
}

/** Returns the risk class of the commands of a script. */
function getScriptRisk({ commands, launched, opaque, plain }: ExecutedCommands): RiskClass {
  if (opaque || [...commands, ...launched].some(usesNetwork)) return "network";
  return plain && commands.length > 0 && commands.every(isHarmlessCommand) ? "read" : "execute";
}

/** Whether a command connects to another machine; where it is not clear which word is the sub-command, it may. */
function usesNetwork(command: SimpleCommand): boolean {
  const program = getProgram(command);
  if (NETWORK_PROGRAMS.has(program)) return true;
  if (isHarmlessCommand(command)) return false;
  const operands = command.words.slice(1).filter(({ text }) => !text.startsWith("-"));
  const local = LOCAL_COMMANDS.get(program);
  if (local && isVersionRequest(command)) return false;
  if (local) return !operands[0]?.literal || !local.has(operands[0].text);
  const network = NETWORK_COMMANDS.get(program);
  return network !== undefined &&
    operands.some(({ text, literal }) => !literal || network.has(text));
}

/** Whether a program only prints its version or its help. */
function isVersionRequest({ words }: SimpleCommand): boolean {
  return words.length === 2 && /^(?:-[vVh]|--version|--help)$/.test(words[1]?.text ?? "");
}

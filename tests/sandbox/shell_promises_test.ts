/**
 * Compares the decisions of the approval gate about shell commands with the effects of the commands in a jail: a
 * harmless command changes no file and starts only programs that read, an allowed command starts only these and the
 * programs of its rule, and a forbidden program never starts.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { defineTool } from "../../src/core/tools/tool.ts";
import { seededRandom } from "../../src/testing/seeded_random.ts";
import { type ApprovalGate, approvalGate } from "../../src/tools/approval/approval_gate.ts";
import { assessCommand } from "../../src/tools/approval/command_assessment.ts";
import { createDeadline } from "../deadline.ts";
import { CommandGrammar } from "./command_grammar.ts";
import { createCommandList } from "./shell_commands.ts";
import { canRunJail, type CommandEffects, ShellJail } from "./shell_jail.ts";

const isProofRun = Deno.env.get("SWINK_PROVE") === "1";
const seed = Number(Deno.env.get("SWINK_SEED") ?? 1);
const randomCommands = isProofRun ? 5_000 : 100;
const DEADLINE_MS = isProofRun ? 3_600_000 : 300_000;

/** Without bubblewrap or user namespaces no command runs. */
const ignore = !await canRunJail(createDeadline());

/** Programs that only read, as far as harmless commands call them. On Debian, `which` is a shell script. */
const READERS = new Set(
  ("arch base64 basename cat cksum cmp column comm cut date df diff dirname du expand expr file find fmt fold git grep " +
    "groups head hexdump hostname id jq ls md5sum nl nproc od paste readlink realpath rev rg sed seq sha1sum sha256sum " +
    "sha512sum sleep sort stat strings tac tail test tr tree uname uniq wc which sh whoami xxd deno node python3")
    .split(" "),
);

const ALLOWED_PROGRAMS = new Set(["deno", "git", "npm", "make", "sort", "sed"]);
const ALLOW = [
  "bash(deno test *)",
  "bash(git log *)",
  "bash(npm run *)",
  "bash(make *)",
  "bash(sort *)",
  "bash(sed *)",
];
const DENY = ["bash(rm *)", "bash(touch *)", "bash(git push *)"];

const bash = defineTool({
  name: "bash",
  description: "",
  parameters: { type: "object" },
  execute: () => "",
});

async function isApproved(gate: ApprovalGate, command: string): Promise<boolean> {
  const decision = await gate({
    toolCallId: "1",
    name: "bash",
    arguments: { command },
    tool: bash,
    context: undefined,
    signal: new AbortController().signal,
  });
  return decision.type === "approved";
}

/** Whether a start is one that the deny rules forbid. */
function isForbidden([name, ...args]: readonly string[]): boolean {
  if (name === "rm" || name === "touch") return true;
  // The last argument that is a sub-command; the values before it belong to global options.
  const subcommand = args.find((arg, index) =>
    !arg.startsWith("-") && !/^(?:-C|-c|--git-dir|--work-tree)$/.test(args[index - 1] ?? "")
  );
  return name === "git" && subcommand === "push";
}

/** Decisions of the gate about a command. */
interface Promises {
  readonly harmless: boolean;
  readonly allowed: boolean;
  readonly denied: boolean;
}

async function findPromises(command: string): Promise<Promises> {
  return {
    harmless: assessCommand(command).verdict === "harmless",
    allowed: await isApproved(approvalGate({ allow: ALLOW }), command),
    denied: !await isApproved(approvalGate({ mode: "bypassed", deny: DENY }), command),
  };
}

/** Returns the effects that break a promise. */
function findBroken(promises: Promises, { started, changes }: CommandEffects): string[] {
  const names = started.map(([name = ""]) => name);
  const startsOnly = (...sets: ReadonlySet<string>[]) =>
    names.every((name) => sets.some((set) => set.has(name)));
  const effects = JSON.stringify({ started, changes });
  return [
    ...(promises.harmless && changes.length > 0 ? [`harmless, but changes: ${effects}`] : []),
    ...(promises.harmless && !startsOnly(READERS) ? [`harmless, but starts: ${effects}`] : []),
    ...(promises.allowed && changes.length > 0 ? [`allowed, but changes: ${effects}`] : []),
    ...(promises.allowed && !startsOnly(READERS, ALLOWED_PROGRAMS)
      ? [`allowed, but starts: ${effects}`]
      : []),
    ...(!promises.denied && started.some(isForbidden)
      ? [`not denied, but starts: ${effects}`]
      : []),
  ];
}

interface Comparison {
  readonly broken: readonly string[];
  readonly promises: readonly Promises[];
  readonly effects: readonly CommandEffects[];
}

async function compare(commands: readonly string[]): Promise<Comparison> {
  using jail = new ShellJail();
  const promises: Promises[] = [];
  for (const command of commands) promises.push(await findPromises(command));
  const middle = Math.ceil(commands.length / 2);
  const halves = [commands.slice(0, middle), commands.slice(middle)];
  const deadline = createDeadline(DEADLINE_MS);
  const effects = (await Promise.all(halves.map((half) => jail.run(half, deadline)))).flat();
  const broken = commands.flatMap((command, index) => {
    const [promise, effect] = [promises[index], effects[index]];
    const found = promise && effect ? findBroken(promise, effect) : ["no result"];
    return found.map((text) => `${JSON.stringify(command)} is ${text}`);
  });
  return { broken, promises, effects };
}

const commands = createCommandList(isProofRun ? undefined : 2);

Deno.test({
  name:
    `shell promises: ${commands.length} commands have in bash the effects that the gate expects`,
  ignore,
  async fn() {
    const { broken, promises, effects } = await compare(commands);
    assertEquals(broken, []);
    // There are commands of each kind, and the jail shows their effects.
    assert(promises.filter(({ harmless }) => harmless).length > 60);
    assert(promises.filter(({ allowed }) => allowed).length > 20);
    assert(promises.filter(({ denied }) => !denied).length > 150);
    assert(effects.filter(({ changes }) => changes.length > 0).length > 100);
    assert(effects.filter(({ started }) => started.some(isForbidden)).length > 100);
  },
});

Deno.test({
  name:
    `shell promises: ${randomCommands} random commands have in bash the effects that the gate expects (seed ${seed})`,
  ignore,
  async fn() {
    const grammar = new CommandGrammar(seededRandom(seed));
    const { broken } = await compare(
      Array.from({ length: randomCommands }, () => grammar.create()),
    );
    assertEquals(broken, []);
  },
});

/**
 * The rule of the configuration that approves a call as the answer `always` does, so that it can be saved.
 *
 * @module
 */

import { runsInput } from "../../../src/tools/approval/commands/runs_input.ts";
import { approvalGate, type GateRequest, type Sandbox } from "../../../src/tools/mod.ts";
import { containsSecret } from "../../editor/secret_text.ts";
import { toVisibleText } from "../../render/visible_text.ts";
import { isKnownTool } from "../../settings/known_tools.ts";

/** A call, as far as it determines the rule. */
export type SavableCall = Pick<GateRequest, "name" | "arguments" | "tool" | "cause">;

/** The longest command that is worth a rule, in characters. */
const MAX_COMMAND = 200;

/**
 * Returns the rule that can be saved for a call: for all calls of a tool, or for exactly this command. A rule for `bash`, or
 * for the beginning of a command, would also approve the dangerous commands that `always` excludes.
 *
 * @returns `undefined` where no rule approves this call and nothing else than `always` does: for a dangerous call, one that
 * is asked about for a reason of its own, or one that nothing confines, for a tool of a server, which may change, and for one
 * that is read-only in plan mode only.
 */
export async function findSavableRule(
  { name, arguments: args, tool, cause }: SavableCall,
  sandbox: Sandbox,
): Promise<string | undefined> {
  const isFixed = isKnownTool(name) && !name.startsWith("mcp__") && tool.readOnly !== true;
  if (cause !== "mode" || !isFixed) return undefined;
  const rule = name === "bash" ? createCommandRule(args.command) : name;
  if (rule === undefined) return undefined;
  // In this mode nothing else than a grant or a rule approves a call.
  const always = approvalGate({ mode: "always", sandbox });
  always.trust({ type: "tool", name });
  const saved = approvalGate({ mode: "always", sandbox, allow: [rule] });
  const explained = await Promise.all(
    [always, saved].map((gate) => gate.explain({ name, arguments: args, tool })),
  );
  return explained.every(({ decision }) => decision.type === "approved") ? rule : undefined;
}

/**
 * Creates a rule for exactly a command; `undefined` if its text would be for others, too, as that of a command that runs its
 * input, or must not be in a file.
 */
function createCommandRule(command: unknown): string | undefined {
  if (typeof command !== "string") return undefined;
  const words = command.trim().split(/[ \t]+/);
  const text = words.join(" ");
  // A path such as ./build is another program in another directory. A rule without a word is for every command.
  const [program = ""] = words;
  const isNamed = program !== "" && (!program.includes("/") || program.startsWith("/"));
  const isPlain = toVisibleText(text) === text && !/[\s*()'"\\]/.test(words.join(""));
  if (!isNamed || !isPlain || text.length > MAX_COMMAND || containsSecret(text)) return undefined;
  if (runsInput(words)) return undefined;
  return `bash(${text})`;
}

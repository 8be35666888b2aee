/**
 * Errors of the program as users of an editor read them.
 *
 * @module
 */

import { toFlag } from "../command_line/definition.ts";
import type { CliError } from "../host/cli_error.ts";
import { ACP_OPTIONS } from "../settings/acp_options.ts";

const FLAGS: ReadonlySet<string> = new Set(Object.keys(ACP_OPTIONS).map(toFlag));

/**
 * Returns the text of an error with its advice. A user of an editor types no command line: advice about options that
 * `swink acp` does not have is omitted; for the others, the text names the command of the agent.
 */
export function formatForEditor({ message, advice }: Pick<CliError, "message" | "advice">): string {
  const isPossible = findFlags(advice).every((flag) => FLAGS.has(flag));
  const texts = [message, ...(isPossible && advice !== "" ? [advice.replace(/\.$/, "")] : [])];
  const hint = texts.some((text) => findFlags(text).length > 0)
    ? ["Options are part of the command of the agent in the settings of the editor"]
    : [];
  return [...texts, ...hint].join(". ");
}

function findFlags(text: string): readonly string[] {
  return text.match(/--[a-z][a-z-]*/g) ?? [];
}

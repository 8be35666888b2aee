/**
 * Errors of the program as users of an editor read them.
 *
 * @module
 */

import { BadRequestError } from "../../src/core/errors/errors.ts";
import { toFlag } from "../command_line/definition.ts";
import { CliError } from "../host/cli_error.ts";
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

/** Returns an error of the program as that of a request of an editor; any other one as it is. */
export function toRequestError(error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  return new BadRequestError(formatForEditor(error), { cause: error });
}

function findFlags(text: string): readonly string[] {
  return text.match(/--[a-z][a-z-]*/g) ?? [];
}

/**
 * Results of tools for a client.
 *
 * @module
 */

import type { AgentToolResult } from "../../core/messages/tool_result.ts";

/** Returns a result without files of the server, whose paths a client must not learn. */
export function withoutFiles<Result extends Pick<AgentToolResult, "content">>(
  result: Result,
): Result {
  const content = result.content.filter((block) =>
    !("source" in block) || block.source.type !== "file"
  );
  return { ...result, content };
}

import { isJsonObject } from "../../src/core/json.ts";
import type { GroundTruth } from "./wire_fixtures.ts";

/** OpenAI's token counts in our normal form: its prompt tokens count cache reads and writes as well. */
export function toExpectedChatUsage({ usage, usageRaw }: GroundTruth): object {
  if (!usageRaw) return {};
  const { input = 0, output = 0, cacheRead = 0, reasoning, total } = usage;
  const details = usageRaw["input_tokens_details"];
  const written = isJsonObject(details) ? details["cache_write_tokens"] : 0;
  const cacheWrite = typeof written === "number" ? written : 0;
  return {
    input: input - cacheRead - cacheWrite,
    output,
    cacheRead,
    cacheWrite,
    ...(total !== undefined && { total }),
    ...(reasoning !== undefined && { extra: { reasoning } }),
  };
}

import { isJsonObject } from "../../src/core/json/json.ts";
import type { GroundTruth } from "./wire_fixtures.ts";

/** Converts token counts of OpenAI, whose prompt tokens include cache reads and writes. */
export function toExpectedChatUsage({ usage, usageRaw }: GroundTruth): object {
  if (!usageRaw) return {};
  const { input = 0, output = 0, cacheRead = 0, reasoning, total } = usage;
  const details = usageRaw["input_tokens_details"];
  const cacheWrites = isJsonObject(details) ? details["cache_write_tokens"] : 0;
  const cacheWrite = typeof cacheWrites === "number" ? cacheWrites : 0;
  return {
    input: input - cacheRead - cacheWrite,
    output,
    cacheRead,
    cacheWrite,
    ...(total !== undefined && { total }),
    ...(reasoning !== undefined && { extra: { reasoning } }),
  };
}

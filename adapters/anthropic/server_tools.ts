/**
 * Anthropic's server tools; loaded for the first request that has one.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import type { UserLocation } from "../../src/core/streams/server_tool.ts";
import type { ServerToolFormats } from "../kit/request/server_tools.ts";

/** The server tools of Anthropic's API. */
export const ANTHROPIC_TOOLS: ServerToolFormats = {
  web_search: {
    supports: ["maxUses", "allowedDomains", "blockedDomains", "userLocation"],
    create: ({ maxUses, userLocation, ...domains }) => ({
      type: "web_search_20250305",
      name: "web_search",
      max_uses: maxUses,
      ...toDomains(domains),
      user_location: userLocation && toLocation(userLocation),
    }),
  },
  web_fetch: {
    supports: ["maxUses", "allowedDomains", "blockedDomains"],
    create: ({ maxUses, ...domains }) => ({
      type: "web_fetch_20250910",
      name: "web_fetch",
      max_uses: maxUses,
      ...toDomains(domains),
      citations: { enabled: true },
    }),
  },
  code_execution: {
    supports: [],
    create: () => ({ type: "code_execution_20250825", name: "code_execution" }),
  },
};

/** Converts lists of domains; the API accepts one of the two. */
function toDomains(
  { allowedDomains, blockedDomains }: {
    readonly allowedDomains?: readonly string[] | undefined;
    readonly blockedDomains?: readonly string[] | undefined;
  },
): JsonObject {
  return allowedDomains ? { allowed_domains: allowedDomains } : { blocked_domains: blockedDomains };
}

/** Converts a location. */
export function toLocation(location: UserLocation): JsonObject {
  return { type: "approximate", ...location };
}

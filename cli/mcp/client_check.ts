/**
 * Whether the program has the package that MCP servers need.
 *
 * @module
 */

import { CLIENT_PACKAGE } from "../../src/mcp/protocol/client_package.ts";
import { describeMissingPackage } from "../host/installed_package.ts";

/** Returns what to install where the package of the protocol is missing, as a sentence without a full stop. */
export function describeMissingClient(): string | undefined {
  return describeMissingPackage(CLIENT_PACKAGE.name, "MCP servers");
}

import type * as sdk from "@agentclientprotocol/sdk";
import { assertEquals } from "@std/assert";
import config from "../../../deno.json" with { type: "json" };
import type { AcpUpdate } from "./acp_update.ts";
import { ACP_PACKAGE, type AcpPackage } from "./sdk_package.ts";

// The package has the type of the part in use, and takes our updates.
const _toPackage = (real: typeof sdk): AcpPackage => real;
const _toUpdate = (update: AcpUpdate): sdk.SessionUpdate => update;

Deno.test("ACP_PACKAGE: is the package of deno.json", () => {
  const imports: Readonly<Record<string, string>> = config.imports;
  const { name, range } = ACP_PACKAGE;
  assertEquals(imports[name], `npm:${name}@${range}`);
});

import * as clientPackage from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import { assert, assertEquals } from "@std/assert";
import config from "../../../deno.json" with { type: "json" };
import { CLIENT_INFO } from "../server_group.ts";
import {
  CLIENT_PACKAGE,
  importClientPackage,
  type McpClientPackage,
  type ProtocolClient,
} from "./client_package.ts";

/** Fails to compile if the package does not have the interface that is used. */
const _toProtocolClient = (client: Client): Omit<ProtocolClient, "callTool"> => client;
const _package: McpClientPackage = clientPackage;

Deno.test("CLIENT_PACKAGE: is the package of deno.json", () => {
  const imports: Readonly<Record<string, string>> = config.imports;
  const { name, range } = CLIENT_PACKAGE;
  assertEquals(imports[name], `npm:${name}@${range}`);
});

Deno.test("CLIENT_INFO: is the version of deno.json", () => {
  assertEquals(CLIENT_INFO, { name: config.name, version: config.version });
});

Deno.test("importClientPackage(): imports the package, once", async () => {
  const first = await importClientPackage();
  assert(typeof first.Client === "function");
  assertEquals(await importClientPackage(), first);
});

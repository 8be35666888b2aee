import { DBOS } from "@dbos-inc/dbos-sdk";
import * as restate from "@restatedev/restate-sdk/fetch";
import { assertEquals } from "@std/assert";
import { DBOS_PACKAGES } from "../../src/durable/dbos/npm_packages.ts";
import { RESTATE_PACKAGE } from "../../src/durable/restate/restate_package.ts";
import { root } from "../project.ts";

const { imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));

Deno.test("durable engines: their packages have the version ranges of deno.json", () => {
  for (const { name, range } of [...Object.values(DBOS_PACKAGES), RESTATE_PACKAGE]) {
    assertEquals(imports[name], `npm:${name}@${range}`);
  }
});

Deno.test("durable engines: their packages have the functions that are used", () => {
  const missing = [
    ...["launch", "shutdown", "registerWorkflow", "startWorkflow", "retrieveWorkflow", "runStep"],
    ...["getWorkflowStatus", "listWorkflows", "resumeWorkflows", "setConfig", "isInitialized"],
  ].filter((name) => typeof Reflect.get(DBOS, name) !== "function");
  assertEquals(missing, []);
  const functions = [restate.workflow, restate.object, restate.createEndpointHandler];
  assertEquals(functions.map((value) => typeof value), ["function", "function", "function"]);
  assertEquals(typeof restate.RestatePromise.race, "function");
});

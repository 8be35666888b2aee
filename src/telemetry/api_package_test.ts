import type * as realApi from "@opentelemetry/api";
import { assertEquals } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import type { OpenTelemetryApi } from "./api.ts";
import { API_PACKAGE } from "./api_package.ts";

// The package has the type of the part in use.
const _toApi = (api: typeof realApi): OpenTelemetryApi => api;

Deno.test("API_PACKAGE: is the package of deno.json", () => {
  const imports: Readonly<Record<string, string>> = config.imports;
  const { name, range } = API_PACKAGE;
  assertEquals(imports[name], `npm:${name}@${range}`);
});

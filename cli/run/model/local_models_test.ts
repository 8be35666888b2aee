import { assert, assertEquals } from "@std/assert";
import { createFakeHost } from "../../../tests/cli/fake_host.ts";
import { LOCAL_PROVIDER, withLocalProvider } from "./local_models.ts";

Deno.test("withLocalProvider(): the runs of a program share their models, unless a server has the name", () => {
  const host = createFakeHost({});
  const { local } = withLocalProvider({}, host);
  assert(local);
  assertEquals(withLocalProvider({}, { ...host, fetch }).local, local);
  assert(withLocalProvider({}, createFakeHost({})).local !== local);
  const server = { baseUrl: "http://127.0.0.1:1/v1" };
  assertEquals(withLocalProvider({ [LOCAL_PROVIDER]: server }, host).local, server);
});

import { assertEquals, assertMatch } from "@std/assert";
import { createCounter, ORIGIN, TestServer, TOKENS } from "../../../tests/server/server_fixture.ts";
import { reply, scriptedStream, toolCall } from "../../testing/mod.ts";

Deno.test("server: a body with a number that would be changed is refused", async () => {
  const calls: string[] = [];
  const tool = createCounter(calls);
  const test = new TestServer({
    agent: {
      streamFn: scriptedStream([reply([toolCall("count", { what: "sheep" }, { id: "a" })])]),
      tools: [tool],
      approve: () => ({ type: "pending" } as const),
    },
  });
  const id = await test.create();
  await test.prompt(id);
  await test.waitForIdle(id);
  const send = async (path: string, body: string) => {
    const headers = {
      authorization: `Bearer ${TOKENS.acme}`,
      "content-type": "application/json",
    };
    const request = new Request(ORIGIN + path, { method: "POST", headers, body });
    const response = await test.server.fetch(request);
    return { status: response.status, text: await response.text() };
  };
  const approve = (number: string) =>
    `{"decisions":{"a":{"type":"approved","arguments":{"what":"1","order":${number}}}}}`;
  for (const number of ["1234567890123456789", "1e400"]) {
    const approved = await send(`/v1/sessions/${id}/approvals`, approve(number));
    assertEquals([number, approved.status], [number, 400]);
    assertMatch(approved.text, /bad_request.*number/);
    const created = await send("/v1/sessions", `{"metadata":{"order":${number}}}`);
    assertEquals([number, created.status], [number, 400]);
  }
  assertEquals(calls, []);
  // Within a text it stays as it is.
  const prompt = `{"metadata":{"order":"1234567890123456789"}}`;
  assertEquals((await send("/v1/sessions", prompt)).status, 201);
  await test.server.close();
});

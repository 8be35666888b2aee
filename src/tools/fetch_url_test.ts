import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { extractText } from "../core/content.ts";
import { type FetchUrlOptions, fetchUrlTool } from "./fetch_url.ts";

interface FetchAnswer {
  readonly text: string;
  readonly isError: boolean;
}

async function fetchWith(
  url: string,
  answers: Readonly<Record<string, () => Response>>,
  options: FetchUrlOptions = {},
): Promise<FetchAnswer & { readonly asked: string[] }> {
  const asked: string[] = [];
  const tool = fetchUrlTool({
    resolve: (name) => Promise.resolve(name === "inner.test" ? ["10.0.0.7"] : ["93.184.215.14"]),
    fetch: (input) => {
      const address = String(input);
      asked.push(address);
      return Promise.resolve(answers[address]?.() ?? new Response("nothing here", { status: 404 }));
    },
    ...options,
  });
  const answer = await tool.execute({ url }, {
    toolCallId: "1",
    idempotencyKey: "1",
    signal: new AbortController().signal,
    onUpdate: () => {},
  });
  const result = typeof answer === "string" ? { content: [], isError: false } : answer;
  return { text: extractText(result.content), isError: result.isError ?? false, asked };
}

const createPage = (body: string, type = "text/html; charset=utf-8") => () =>
  new Response(body, { headers: { "content-type": type } });

Deno.test("a page is told as text, with its address", async () => {
  const { text, isError } = await fetchWith("https://a.test/x", {
    "https://a.test/x": createPage(
      "<title>T</title><script>bad()</script><p>Hello&nbsp;<a href='/y'>there</a>",
    ),
  });
  assertEquals(isError, false);
  assertEquals(text, "https://a.test/x\n\n# T\n\nHello [there](https://a.test/y)");
});

Deno.test("redirects are followed, up to a point, and each address is judged", async () => {
  const to = (location: string) => () => new Response(null, { status: 302, headers: { location } });
  const { text } = await fetchWith("http://a.test/", {
    "http://a.test/": to("/b"),
    "http://a.test/b": createPage("end", "text/plain"),
  });
  assertStringIncludes(text, "http://a.test/b\n\nend");
  const inward = await fetchWith("http://a.test/", { "http://a.test/": to("http://inner.test/") });
  assertStringIncludes(inward.text, "inner.test is an address of this machine or its network");
  assertEquals(inward.asked, ["http://a.test/"]);
  const round = await fetchWith("http://a.test/", { "http://a.test/": to("/") });
  assertStringIncludes(round.text, "redirected more than 5 times");
});

Deno.test("private addresses, other schemes and other hosts are refused before anything is sent", async () => {
  const refused = [
    "http://127.0.0.1/",
    "http://[::1]:80/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://169.254.169.254/latest",
    "http://[::ffff:10.0.0.1]/",
    "http://inner.test/",
    "file:///etc/passwd",
    "nonsense",
  ];
  for (const url of refused) {
    const { isError, asked } = await fetchWith(url, {});
    assertEquals([isError, asked], [true, []], url);
  }
  const other = await fetchWith("https://b.test/", {}, { hosts: ["*.a.test", "a.test"] });
  assertStringIncludes(other.text, "not among the hosts");
  const inner = await fetchWith("http://inner.test/", {}, { allowPrivate: true });
  assertEquals(inner.asked.length, 1);
});

Deno.test("names and passwords in an address are not sent", async () => {
  const { asked } = await fetchWith("https://me:secret@a.test/", {});
  assertEquals(asked, ["https://a.test/"]);
});

Deno.test("a failed status is an error with its text; other types are refused with their size", async () => {
  const missing = await fetchWith("https://a.test/none", {});
  assert(missing.isError);
  assertStringIncludes(missing.text, "HTTP status 404");
  assertStringIncludes(missing.text, "nothing here");
  const image = await fetchWith("https://a.test/i", {
    "https://a.test/i": createPage("abc", "image/png"),
  });
  assertStringIncludes(image.text, "is image/png of 3 bytes, not text");
});

Deno.test("a body without end is read only so far", async () => {
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(120)),
      }),
      { headers: { "content-type": "text/plain" } },
    );
  const { text } = await fetchWith("https://a.test/", { "https://a.test/": endless }, {
    maxBytes: 100_000,
  });
  assertStringIncludes(text, "characters left out");
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { extractText } from "../core/messages/content.ts";
import { testToolContext } from "../testing/test_tool_context.ts";
import { type FetchUrlOptions, fetchUrlTool } from "./fetch_url.ts";

/** Calls `fetch_url` with scripted responses by address; other addresses get status 404. */
async function fetchWith(
  url: string,
  responses: Readonly<Record<string, () => Response>>,
  options: FetchUrlOptions = {},
): Promise<{ readonly text: string; readonly isError: boolean; readonly requested: string[] }> {
  const requested: string[] = [];
  const tool = fetchUrlTool({
    resolve: (name) => Promise.resolve(name === "inner.test" ? ["10.0.0.7"] : ["93.184.215.14"]),
    fetch: (input) => {
      const address = String(input);
      requested.push(address);
      return Promise.resolve(
        responses[address]?.() ?? new Response("nothing here", { status: 404 }),
      );
    },
    ...options,
  });
  const output = await tool.execute({ url }, testToolContext());
  const result = typeof output === "string" ? { content: [], isError: false } : output;
  return { text: extractText(result.content), isError: result.isError ?? false, requested };
}

const createPage = (body: string, type = "text/html; charset=utf-8") => () =>
  new Response(body, { headers: { "content-type": type } });

Deno.test("fetch_url: returns the address and the text of a page", async () => {
  const { text, isError } = await fetchWith("https://a.test/x", {
    "https://a.test/x": createPage(
      "<title>T</title><script>bad()</script><p>Hello&nbsp;<a href='/y'>there</a>",
    ),
  });
  assertEquals(isError, false);
  assertEquals(text, "https://a.test/x\n\n# T\n\nHello [there](https://a.test/y)");
});

Deno.test("fetch_url: follows up to five redirects and checks each address", async () => {
  const redirectTo = (location: string) => () =>
    new Response(null, { status: 302, headers: { location } });
  const { text } = await fetchWith("http://a.test/", {
    "http://a.test/": redirectTo("/b"),
    "http://a.test/b": createPage("end", "text/plain"),
  });
  assertStringIncludes(text, "http://a.test/b\n\nend");
  const loop = await fetchWith("http://a.test/", { "http://a.test/": redirectTo("/") });
  assertStringIncludes(loop.text, "redirects more than 5 times");
});

Deno.test("fetch_url: names a redirect to another host instead of following it", async () => {
  const { text, isError, requested } = await fetchWith("http://a.test/", {
    "http://a.test/": () =>
      new Response(null, { status: 301, headers: { location: "http://b.test/c" } }),
  });
  assertEquals(
    text,
    "http://a.test/ redirects to another host or port: call fetch_url with http://b.test/c to follow it",
  );
  assertEquals([isError, requested], [true, ["http://a.test/"]]);
  for (const location of ["http://sub.a.test/", "http://a.test:8080/", "https://a.test:80/"]) {
    const refused = await fetchWith("http://a.test/", {
      "http://a.test/": () => new Response(null, { status: 301, headers: { location } }),
    });
    assertEquals([refused.isError, refused.requested], [true, ["http://a.test/"]], location);
  }
  const secure = await fetchWith("http://a.test/", {
    "http://a.test/": () =>
      new Response(null, { status: 301, headers: { location: "https://a.test/" } }),
    "https://a.test/": createPage("end", "text/plain"),
  });
  assertStringIncludes(secure.text, "end");
});

Deno.test("fetch_url: rejects private addresses, other schemes and other hosts before a request is sent", async () => {
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
    const { isError, requested } = await fetchWith(url, {});
    assertEquals([isError, requested], [true, []], url);
  }
  const forbidden = await fetchWith("https://b.test/", {}, { hosts: ["*.a.test", "a.test"] });
  assertStringIncludes(forbidden.text, "not one of the allowed hosts: *.a.test, a.test");
  const resolve = () => Promise.resolve(["93.184.215.14", "10.0.0.7"]);
  assertEquals((await fetchWith("http://a.test/", {}, { resolve })).requested, []);
  const inner = await fetchWith("http://inner.test/", {}, { allowPrivate: true });
  assertEquals(inner.requested.length, 1);
});

Deno.test("fetch_url: removes user name and password from the address", async () => {
  const { requested } = await fetchWith("https://me:secret@a.test/", {});
  assertEquals(requested, ["https://a.test/"]);
});

Deno.test("fetch_url: returns an error result for an error status, with the body, and for content that is not text, with type and size", async () => {
  const missing = await fetchWith("https://a.test/none", {});
  assert(missing.isError);
  assertStringIncludes(missing.text, "HTTP status 404");
  assertStringIncludes(missing.text, "nothing here");
  const image = await fetchWith("https://a.test/i", {
    "https://a.test/i": createPage("abc", "image/png"),
  });
  assertStringIncludes(image.text, "is image/png of 3 bytes, not text");
});

Deno.test("fetch_url: reads an endless body up to maxBytes", async () => {
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
  assertStringIncludes(text, "characters omitted");
});

Deno.test("fetch_url: fetches a page without a time limit", async () => {
  const pages = { "https://a.test/": createPage("Hello", "text/plain") };
  const { text } = await fetchWith("https://a.test/", pages, { timeoutMs: Infinity });
  assertEquals(text, "https://a.test/\n\nHello");
});

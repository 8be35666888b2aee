import { assertEquals } from "@std/assert";
import { addCitations, findUnreadPages } from "./citations.ts";

const URI = "https://deno.com";

Deno.test("addCitations(): converts the sources of every kind of search", () => {
  const chunks = [
    { web: { uri: URI, title: "Deno" } },
    { maps: { uri: "https://maps.example/1", title: "Zürich", text: "A city" } },
    { image: { sourceUri: "https://a.example/b.png" } },
    { retrievedContext: { title: "notes", text: "A runtime" } },
    { retrievedContext: {} },
    { news: { uri: URI } },
  ];
  const citations = addCitations([], { groundingMetadata: { groundingChunks: chunks } });
  assertEquals(citations, [
    { type: "url", url: URI, title: "Deno", data: chunks[0] },
    {
      type: "url",
      url: "https://maps.example/1",
      title: "Zürich",
      text: "A city",
      data: chunks[1],
    },
    { type: "url", url: "https://a.example/b.png", data: chunks[2] },
    { type: "document", title: "notes", text: "A runtime", data: chunks[3] },
  ]);
});

Deno.test("addCitations(): the data of a source has the segments of the text that it supports", () => {
  const deno = { web: { uri: URI, title: "Deno" } };
  const node = { web: { uri: "https://nodejs.org", title: "Node" } };
  const support = (text: string, groundingChunkIndices: unknown) => ({
    segment: { endIndex: text.length, text },
    groundingChunkIndices,
  });
  const [one, two] = [support("One.", [0, 1]), support("Two.", [2])];
  const citations = addCitations([], {
    groundingMetadata: {
      groundingChunks: [deno, node, deno],
      groundingSupports: [one, two, support("Three.", ["0", 7]), null],
    },
  });
  assertEquals(citations.map(({ data }) => data), [
    { ...deno, groundingSupports: [one, two] },
    { ...node, groundingSupports: [one] },
  ]);
});

Deno.test("addCitations(): a document that a later chunk repeats with its segments is one source", () => {
  const notes = { retrievedContext: { title: "notes", text: "A runtime" } };
  const first = addCitations([], { groundingMetadata: { groundingChunks: [notes] } });
  const support = { segment: { text: "One." }, groundingChunkIndices: [0] };
  const metadata = { groundingChunks: [notes], groundingSupports: [support] };
  const second = addCitations(first, { groundingMetadata: metadata });
  assertEquals(second.map(({ data }) => data), [{ ...notes, groundingSupports: [support] }]);
});

Deno.test("addCitations(): has each source once, with the data of its last chunk", () => {
  const create = (title: string) => ({ groundingChunks: [{ web: { uri: URI, title } }] });
  const first = addCitations([], { groundingMetadata: create("old") });
  const second = addCitations(first, { groundingMetadata: create("new") });
  assertEquals(second.map((citation) => citation.title), ["new"]);
  const citationSources = [{ uri: "https://a.example" }];
  assertEquals(addCitations(second, { citationMetadata: { citationSources } }).length, 2);
  assertEquals(addCitations(second, {}), second);
});

Deno.test("addCitations(), findUnreadPages(): divide pages by whether they were read", () => {
  const urlMetadata = [
    { retrievedUrl: "https://a.example/1", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" },
    { retrievedUrl: "https://a.example/2", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_UNSPECIFIED" },
    { retrievedUrl: "https://a.example/3" },
    { retrievedUrl: "https://a.example/4", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_UNSAFE" },
    { urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" },
  ];
  const sources = { urlContextMetadata: { urlMetadata } };
  assertEquals(
    addCitations([], sources).map((citation) => citation.type === "url" ? citation.url : ""),
    ["https://a.example/1", "https://a.example/2", "https://a.example/3"],
  );
  assertEquals(findUnreadPages(sources), ["https://a.example/4 (unsafe)"]);
});

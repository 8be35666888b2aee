import { assertEquals, assertLess } from "@std/assert";
import { CitedSources, findUnreadPages } from "./citations.ts";

const URI = "https://deno.com";

function collect(...chunks: Parameters<CitedSources["add"]>[0][]) {
  const sources = new CitedSources();
  for (const chunk of chunks) sources.add(chunk);
  return sources.citations;
}

Deno.test("CitedSources: converts the sources of every kind of search", () => {
  const chunks = [
    { web: { uri: URI, title: "Deno" } },
    { maps: { uri: "https://maps.example/1", title: "Zürich", text: "A city" } },
    { image: { sourceUri: "https://a.example/b.png" } },
    { retrievedContext: { title: "notes", text: "A runtime" } },
    { retrievedContext: {} },
    { news: { uri: URI } },
  ];
  const citations = collect({ groundingMetadata: { groundingChunks: chunks } });
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

Deno.test("CitedSources: the data of a source has the segments of the text that it supports", () => {
  const deno = { web: { uri: URI, title: "Deno" } };
  const node = { web: { uri: "https://nodejs.org", title: "Node" } };
  const support = (text: string, groundingChunkIndices: unknown) => ({
    segment: { endIndex: text.length, text },
    groundingChunkIndices,
  });
  const [one, two] = [support("One.", [0, 1]), support("Two.", [2])];
  const citations = collect({
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

Deno.test("CitedSources: supports that name many sources do not multiply the length of a reply", () => {
  const create = (count: number) => {
    const groundingChunks = Array.from({ length: count }, (_, index) => ({
      web: { uri: `${URI}/${index}` },
    }));
    const groundingChunkIndices = groundingChunks.map((_, index) => index);
    const groundingSupports = groundingChunks.map((_, startIndex) => ({
      segment: { startIndex },
      groundingChunkIndices,
    }));
    return { groundingMetadata: { groundingChunks, groundingSupports } };
  };
  const large = create(300);
  assertLess(JSON.stringify(collect(large)).length, 12 * JSON.stringify(large).length);
  const data = collect(create(20)).map(({ data }) => data as { groundingSupports: unknown[] });
  assertEquals(data.map(({ groundingSupports }) => groundingSupports.length), Array(20).fill(20));
});

Deno.test("CitedSources: the supports of a long reply that name a few sources each are complete", () => {
  const groundingChunks = Array.from({ length: 50 }, (_, index) => ({
    web: { uri: `${URI}/${index}` },
  }));
  const groundingSupports = Array.from({ length: 1000 }, (_, startIndex) => ({
    segment: { startIndex, text: "A sentence with a few words." },
    groundingChunkIndices: [0, 10, 20, 30, 40].map((index) => index + startIndex % 10),
  }));
  const citations = collect({ groundingMetadata: { groundingChunks, groundingSupports } });
  const counts = citations.map(({ data }) =>
    (data as { groundingSupports: unknown[] }).groundingSupports.length
  );
  assertEquals(counts, Array(50).fill(100));
});

Deno.test("CitedSources: a document that a later chunk repeats with its segments is one source", () => {
  const notes = { retrievedContext: { title: "notes", text: "A runtime" } };
  const first = { groundingMetadata: { groundingChunks: [notes] } };
  const support = { segment: { text: "One." }, groundingChunkIndices: [0] };
  const metadata = { groundingChunks: [notes], groundingSupports: [support] };
  const citations = collect(first, { groundingMetadata: metadata });
  assertEquals(citations.map(({ data }) => data), [{ ...notes, groundingSupports: [support] }]);
});

Deno.test("CitedSources: has each source once, with the data of its last chunk", () => {
  const create = (title: string) => ({ groundingChunks: [{ web: { uri: URI, title } }] });
  const chunks = ["old", "new"].map((title) => ({ groundingMetadata: create(title) }));
  assertEquals(collect(...chunks).map((citation) => citation.title), ["new"]);
  const recited = { citationMetadata: { citationSources: [{ uri: "https://a.example" }] } };
  assertEquals(collect(...chunks, recited, {}).length, 2);
});

Deno.test("CitedSources, findUnreadPages(): divide pages by whether they were read", () => {
  const urlMetadata = [
    { retrievedUrl: "https://a.example/1", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" },
    { retrievedUrl: "https://a.example/2", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_UNSPECIFIED" },
    { retrievedUrl: "https://a.example/3" },
    { retrievedUrl: "https://a.example/4", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_UNSAFE" },
    { urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" },
  ];
  const sources = { urlContextMetadata: { urlMetadata } };
  assertEquals(
    collect(sources).map((citation) => citation.type === "url" ? citation.url : ""),
    ["https://a.example/1", "https://a.example/2", "https://a.example/3"],
  );
  assertEquals(findUnreadPages(sources), ["https://a.example/4 (unsafe)"]);
});

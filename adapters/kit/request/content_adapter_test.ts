import { assertEquals } from "@std/assert";
import type { ContentBlock, MediaSource } from "../../../src/core/messages/content.ts";
import { adaptContent, COMMON_IMAGES, WEB_URLS } from "./adapt_content.ts";
import type { ContentAbilities } from "./content_abilities.ts";

const ABILITIES: ContentAbilities = {
  image: { types: COMMON_IMAGES, urls: WEB_URLS, files: true },
  document: {
    types: /^application\/(?:pdf|rtf)$/,
    urls: WEB_URLS,
    urlTypes: /^application\/pdf$/,
    citations: true,
  },
  audio: { types: /^audio\/(?:wav|mpeg)$/, urls: WEB_URLS },
};

/** Returns the adapted block and the warnings. */
async function adapt(
  block: ContentBlock,
  abilities: ContentAbilities = ABILITIES,
): Promise<[unknown, string[]]> {
  const warnings: string[] = [];
  const messages = [{ role: "user", content: [block], timestamp: 0 }] as const;
  const request = {
    model: { provider: "acme", modelId: "m", thinkingLevel: "off" },
    context: { systemPrompt: "", messages, tools: [] },
    options: {},
    signal: new AbortController().signal,
  } as const;
  const sink = {
    warning: (code: string, message: string) => void warnings.push(`${code}: ${message}`),
  };
  const [message] = await adaptContent(request, abilities, sink);
  return [message?.content[0], warnings];
}

function image(mediaType: string, data = "AAAA"): ContentBlock {
  return { type: "image", source: { type: "base64", mediaType, data } };
}

function document(
  mediaType: string,
  source: MediaSource = { type: "base64", data: "AAAA" },
): ContentBlock {
  return { type: "document", mediaType, source };
}

function audio(
  mediaType: string,
  source: MediaSource = { type: "base64", data: "AAAA" },
): ContentBlock {
  return { type: "audio", mediaType, source };
}

const PAGE = { type: "url", url: "https://a.example/b" } as const;
const FILE = { type: "provider_file", provider: "acme", id: "f" } as const;
const FOREIGN_FILE = { ...FILE, provider: "other" } as const;

/** Blocks, and the reason of the warning with which they are replaced. */
const REPLACED: readonly (readonly [ContentBlock, string])[] = [
  [image("image/bmp"), "images_left_out: The provider does not accept images of type image/bmp"],
  [
    { type: "image", source: { type: "url", url: "ftp://a.example/b.png" } },
    "images_left_out: The provider does not fetch images from such URLs; send base64",
  ],
  [
    { type: "image", source: FOREIGN_FILE },
    "images_left_out: acme does not have the files of the images; send base64",
  ],
  [
    document("application/zip"),
    "documents_left_out: The provider does not accept documents of type application/zip",
  ],
  [
    document("application/rtf", PAGE),
    "documents_left_out: The provider does not fetch documents of type application/rtf; send base64",
  ],
  [
    document("application/pdf", FILE),
    "documents_left_out: acme does not have the files of the documents; send base64",
  ],
  [audio("audio/aac"), "audio_left_out: The provider does not accept audio of type audio/aac"],
  [
    audio("audio/aac", PAGE),
    "audio_left_out: The provider does not fetch audio of type audio/aac; send base64",
  ],
];

const REPLACEMENTS: Readonly<Record<string, string>> = {
  image: "(an image that this model cannot see)",
  document: "(a document that this model cannot read)",
  audio: "(an audio clip that this model cannot hear)",
};

Deno.test("adaptContent(): replaces media that a provider does not accept by a text, with the reason", async () => {
  for (const [block, reason] of REPLACED) {
    const text = { type: "text", text: REPLACEMENTS[block.type] };
    assertEquals(await adapt(block), [text, [`${reason}: 1 omitted`]]);
  }
  const reason = "images_left_out: The model does not accept images: 1 omitted";
  const text = { type: "text", text: REPLACEMENTS["image"] };
  assertEquals(await adapt(image("image/png"), {}), [text, [reason]]);
});

/** Blocks, and the form in which they are sent. */
const SENT: readonly (readonly [ContentBlock, ContentBlock?])[] = [
  [image("image/png")],
  [{ type: "image", source: PAGE }],
  [{ type: "image", source: FILE }],
  [image("IMAGE/JPG; q=1"), image("image/jpeg")],
  [
    { type: "image", source: { type: "url", url: "data:image/png;base64,AAAA" } },
    image("image/png"),
  ],
  [
    { type: "image", source: { type: "url", url: "data:image/png;charset=x;BASE64,AA\nAA" } },
    image("image/png"),
  ],
  [
    { type: "image", source: { type: "url", url: "data:image/png,%C3%BC" } },
    image("image/png", "w7w="),
  ],
  [document("application/pdf")],
  [document("application/x-pdf"), document("application/pdf")],
  [document("application/pdf", PAGE)],
  [
    document("application/pdf", { type: "url", url: "data:application/pdf;base64,AAAA" }),
    document("application/pdf"),
  ],
  [audio("audio/x-wav"), audio("audio/wav")],
  [audio("audio/mp3", PAGE), audio("audio/mpeg", PAGE)],
  [
    document("text/x-markdown", { type: "base64", data: btoa("# A") }),
    { type: "text", text: "Document:\n\n# A" },
  ],
  [
    {
      type: "document",
      mediaType: "application/ld+json",
      name: "a",
      source: { type: "base64", data: btoa("{}") },
    },
    { type: "text", text: 'Document "a":\n\n{}' },
  ],
];

Deno.test("adaptContent(): sends media with the usual names of their types, and documents of text as text", async () => {
  for (const [block, expected = block] of SENT) {
    assertEquals(await adapt(block), [expected, []], JSON.stringify(block));
  }
});

Deno.test("adaptContent(): a document of text is plain text for a provider with text documents", async () => {
  const source = { type: "base64", data: btoa("# A") } as const;
  const abilities = { document: { types: /^text\/(?:plain|html)$/ } };
  assertEquals(await adapt(document("text/markdown", source), abilities), [
    document("text/plain", source),
    [],
  ]);
  assertEquals(await adapt(document("text/html", source), abilities), [
    document("text/html", source),
    [],
  ]);
});

Deno.test("adaptContent(): omits the request for citations of a provider that does not cite", async () => {
  const cited = { ...document("application/pdf"), citations: true } as ContentBlock;
  assertEquals(await adapt(cited), [cited, []]);
  assertEquals(await adapt(cited, { document: { types: /pdf/ } }), [
    document("application/pdf"),
    ["citations_left_out: The provider does not cite documents: 1 omitted"],
  ]);
});

Deno.test("adaptContent(): omits the request for citations of a document of text that is converted", async () => {
  const block = document("application/json");
  const cited = { ...block, citations: true } as ContentBlock;
  const withText = { ...ABILITIES.document, types: /^text\/plain$/ };
  const warning = "citations_left_out: The provider does not cite documents: 1 omitted";
  const subjects = [
    {},
    { document: { ...ABILITIES.document, types: /^application\/pdf$/ } },
    { document: { ...withText, citations: false } },
  ];
  for (const abilities of subjects) {
    const [plain] = await adapt(block, abilities);
    assertEquals(await adapt(cited, abilities), [plain, [warning]]);
  }
  const [converted] = await adapt(block, { document: withText });
  assertEquals(await adapt(cited, { document: withText }), [
    Object.assign({ citations: true }, converted),
    [],
  ]);
});

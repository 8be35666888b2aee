import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { KeyDecoder } from "./key_decoder.ts";
import type { KeyEvent } from "./key_event.ts";
import { formatKey } from "./key_notation.ts";

const encoder = new TextEncoder();

/** Formats events as a short text: characters as they are, keys in angle brackets, pasted texts in quotes. */
function format(events: readonly KeyEvent[]): string {
  return events.map((event) => {
    switch (event.type) {
      case "character":
        return event.text;
      case "key":
        return `<${formatKey(event)}>`;
      case "paste":
        return JSON.stringify(event.text) + (event.omitted > 0 ? `-${event.omitted}` : "");
    }
  }).join("");
}

function decode(...chunks: string[]): string {
  const decoder = new KeyDecoder();
  return chunks.map((chunk) => format(decoder.push(encoder.encode(chunk)))).join("");
}

/** Keys as terminals send them. */
const KEYS: readonly (readonly [name: string, ...sequences: string[]])[] = [
  ["enter", "\r", "\x1bOM", "\x1b[13u", "\x1b[57414u"],
  ["shift+enter", "\x1b[13;2u", "\x1b[27;2;13~"],
  ["alt+enter", "\x1b\r", "\x1b[13;3u", "\x1b[27;3;13~"],
  ["ctrl+enter", "\x1b[13;5u"],
  ["ctrl+j", "\n", "\x1b[106;5u", "\x1b[27;5;106~"],
  ["tab", "\t"],
  ["shift+tab", "\x1b[Z", "\x1b[9;2u", "\x1b[1;2Z", "\x1b[27;2;9~"],
  ["backspace", "\x7f", "\x1b[127u"],
  ["alt+backspace", "\x1b\x7f", "\x1b[127;3u"],
  ["ctrl+h", "\b"],
  ["escape", "\x1b[27u", "\x1b[27;1u", "\x1b[27;129u"],
  ["ctrl+space", "\0", "\x1b[32;5u"],
  ["ctrl+a", "\x01", "\x1b[97;5u", "\x1b[97;69u"],
  ["ctrl+c", "\x03", "\x1b[99;5u", "\x1b[99;5:1u", "\x1b[99;5:2u"],
  ["ctrl+z", "\x1a"],
  ["ctrl+\\", "\x1c"],
  ["ctrl+_", "\x1f"],
  ["ctrl+alt+a", "\x1b\x01", "\x1b[97;7u"],
  ["ctrl+shift+a", "\x1b[97;6u", "\x1b[97:65;6u", "\x1b[27;6;65~"],
  ["alt+b", "\x1bb", "\x1b[98;3u", "\x1b[98;33u"],
  ["alt+shift+b", "\x1bB"],
  ["alt+é", "\x1bé"],
  ["alt+😀", "\x1b😀"],
  ["alt+<", "\x1b<"],
  ["up", "\x1b[A", "\x1bOA", "\x1b[1A", "\x1b[57419u"],
  ["down", "\x1b[B", "\x1bOB"],
  ["right", "\x1b[C", "\x1bOC"],
  ["left", "\x1b[D", "\x1bOD"],
  ["ctrl+left", "\x1b[1;5D", "\x1bO5D", "\x1bOd"],
  ["ctrl+right", "\x1b[1;5C", "\x1bOc"],
  ["shift+left", "\x1b[1;2D", "\x1b[d"],
  ["shift+right", "\x1b[1;2C", "\x1b[c"],
  ["alt+up", "\x1b[1;3A", "\x1b\x1b[A", "\x1b\x1bOA"],
  ["ctrl+alt+shift+down", "\x1b[1;8B"],
  ["home", "\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"],
  ["end", "\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"],
  ["insert", "\x1b[2~"],
  ["delete", "\x1b[3~"],
  ["shift+delete", "\x1b[3;2~", "\x1b[3$"],
  ["ctrl+delete", "\x1b[3;5~", "\x1b[3^"],
  ["ctrl+shift+delete", "\x1b[3@"],
  ["page_up", "\x1b[5~"],
  ["page_down", "\x1b[6~"],
  ["f1", "\x1bOP", "\x1b[11~", "\x1b[[A", "\x1b[P"],
  ["f2", "\x1bOQ", "\x1b[12~", "\x1b[[B"],
  ["f3", "\x1bOR", "\x1b[13~", "\x1b[[C"],
  ["f4", "\x1bOS", "\x1b[14~", "\x1b[[D"],
  ["f5", "\x1b[15~", "\x1b[[E"],
  ["f6", "\x1b[17~"],
  ["f7", "\x1b[18~"],
  ["f8", "\x1b[19~"],
  ["f9", "\x1b[20~"],
  ["f10", "\x1b[21~"],
  ["f11", "\x1b[23~"],
  ["f12", "\x1b[24~"],
  ["shift+f2", "\x1b[1;2Q", "\x1b[12;2~"],
  ["ctrl+f12", "\x1b[24;5~", "\x1b[24^"],
];

Deno.test("KeyDecoder: reads the keys of xterm, VT, rxvt, Linux, kitty and modifyOtherKeys", () => {
  for (const [name, ...sequences] of KEYS) {
    for (const sequence of sequences) {
      assertEquals(decode(`a${sequence}b`), `a<${name}>b`, JSON.stringify(sequence));
    }
  }
});

Deno.test("KeyDecoder: reads keys that a protocol sends as code points as text", () => {
  assertEquals(decode("\x1b[97u\x1b[97;2u\x1b[55:37;2u\x1b[27;2;65~"), "aA%A");
  assertEquals(decode("\x1bOp\x1bOk\x1b[57400u\x1b[57411u"), "0+1*");
});

Deno.test("KeyDecoder: splits text into graphemes", () => {
  const events = new KeyDecoder().push(encoder.encode("e\u0301👨‍👩‍👧🇩🇪한x"));
  assertEquals(
    events.map((event) => event.type === "character" && event.text),
    ["e\u0301", "👨‍👩‍👧", "🇩🇪", "한", "x"],
  );
});

Deno.test("KeyDecoder: returns a pasted text as one event with LF, without escape sequences", () => {
  assertEquals(decode("a\x1b[200~x\r\ny\rz\tß\x1b[31m\x03\x1b[201~\r"), `a"x\\ny\\nz\\tß"<enter>`);
  assertEquals(decode("\x1b[200~\x1b[201~b"), "b");
  assertEquals(decode("\x1b[200~x\x1b[201", "~\r"), `"x"<enter>`);
  assertEquals(decode("\x1b[200~x\x1b[20", "2~\x1b[201~"), `"x"`);
});

Deno.test("KeyDecoder: bounds a pasted text", () => {
  const decoder = new KeyDecoder();
  decoder.push(encoder.encode("\x1b[200~"));
  const chunk = encoder.encode("a".repeat(1_000_000));
  for (let count = 0; count < 5; count++) assertEquals(decoder.push(chunk), []);
  const [paste, ...others] = decoder.push(encoder.encode("\x1b[201~"));
  assert(paste?.type === "paste");
  assertEquals(paste.text.length, 1_048_576);
  assertEquals(paste.omitted, 5_000_000 - 1_048_576);
  assertEquals(others, []);
});

Deno.test("KeyDecoder: a paste without its end is returned in parts, and Ctrl+C ends it", () => {
  const decoder = new KeyDecoder();
  const push = (text: string) => format(decoder.push(encoder.encode(text)));
  assertEquals(push("\x1b[200~one\r"), "");
  assertEquals(decoder.awaitsMs, 2_000);
  assertEquals(format(decoder.expire()), `"one\\n"`);
  assertEquals(push("two\x03\r"), "");
  assertEquals(push("\x03"), `"two\\n"<ctrl+c>`);
  assertEquals(push("a\r"), "a<enter>");
});

Deno.test("KeyDecoder: discards replies, mouse and focus events, and unknown sequences", () => {
  const discarded = [
    "\x1b[I",
    "\x1b[O",
    "\x1b[?2026;2$y",
    "\x1b[?62;22c",
    "\x1b[>0;95;0c",
    "\x1b[?1u",
    "\x1b[<35;20;5M",
    "\x1b[M !!",
    "\x1b]11;rgb:0000/0000/0000\x07",
    "\x1b]11;rgb:0000/0000/0000\x1b\\",
    "\x1bP1+r544e\x1b\\",
    "\x1b[97;5:3u",
    "\x1b[97;9u",
    "\x1b[57358u",
    "\x1b[1114112u",
    "\x1b[55296u",
    "\x1b[999~",
    "\x1b[201~",
    "\x1b[E",
    "\x9b",
    "\x1b[[Z",
  ];
  for (const sequence of discarded) {
    assertEquals(decode(`a${sequence}b`), "ab", JSON.stringify(sequence));
  }
});

Deno.test("KeyDecoder: waits for the rest of a sequence, and returns Escape when it does not arrive", () => {
  const decoder = new KeyDecoder();
  const push = (text: string) => format(decoder.push(encoder.encode(text)));
  assertEquals(decoder.awaitsMs, undefined);
  assertEquals(push("\x1b"), "");
  assertEquals(decoder.awaitsMs, 50);
  assertEquals(format(decoder.expire()), "<escape>");
  assertEquals(decoder.awaitsMs, undefined);
  assertEquals(push("\x1b[1;"), "");
  assertEquals(decoder.awaitsMs, 500);
  assertEquals(push("5D"), "<ctrl+left>");
  assertEquals(push("\x1b[1;"), "");
  assertEquals(format(decoder.expire()), "", "an unfinished sequence is no key");
  for (
    const [start, keys] of [
      ["\x1b\x1b", "<escape><escape>"],
      ["\x1b[", "<alt+[>"],
      ["\x1bO", "<alt+shift+o>"],
      ["\x1b]", "<alt+]>"],
      ["\x1b\x1b[", "<escape><alt+[>"],
    ] as const
  ) {
    assertEquals(push(start), "");
    assertEquals(format(decoder.expire()), keys);
  }
});

Deno.test("KeyDecoder: an invalid character ends a sequence and is a key", () => {
  assertEquals(decode("\x1b[1;\x03b"), "<ctrl+c>b");
  assertEquals(decode("\x1b]0;title\x1b[A"), "<up>");
  assertEquals(decode("\x1bOé"), "<alt+shift+o>é");
  assertEquals(decode("\x1b\x1b\x1b[A"), "<escape><alt+up>");
  assertEquals(decode("\x1b\x1b[200~x\x1b[201~"), `<escape>"x"`);
});

Deno.test("KeyDecoder: discards sequences without an end, and reads the keys after them", () => {
  const decoder = new KeyDecoder();
  const push = (text: string) => format(decoder.push(encoder.encode(text)));
  for (const start of ["\x1b[", "\x1b]52;c;", "\x1bP", "\x1b\x1b["]) {
    push(start);
    for (let count = 0; count < 100; count++) push("1".repeat(1_000));
    decoder.expire();
    assertEquals(push("ab"), "ab", JSON.stringify(start));
  }
  push("\x1b]52;c;" + "A".repeat(10_000));
  assertEquals(decoder.awaitsMs, 500);
  assertEquals(push("A".repeat(10_000)), "");
  assertEquals(push("\x1b"), "");
  assertEquals(push("\\x"), "x");
});

Deno.test("KeyDecoder: replaces invalid UTF-8 and reads the keys after it", () => {
  const decoder = new KeyDecoder();
  assertEquals(format(decoder.push(new Uint8Array([0xff, 0x61, 0xc3]))), "\ufffda");
  assertEquals(format(decoder.push(new Uint8Array([0x0d]))), "\ufffd<enter>");
});

/** Input of a keyboard: keys, texts and pasted texts. */
const input = fc.array(
  fc.oneof(
    fc.constantFrom(...KEYS.flatMap(([, ...sequences]) => sequences)),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("ä", "한", "👍🏽", "\x1b[200~pasted\rtext\x1b[201~", "\x1b[?1;2c"),
  ),
).map((parts) => encoder.encode(parts.join("")));

Deno.test("KeyDecoder: returns the same keys however the bytes are split", () => {
  fc.assert(
    fc.property(input, fc.array(fc.nat({ max: 60 })), (bytes, cuts) => {
      const decoder = new KeyDecoder();
      let split = "";
      let start = 0;
      for (const cut of [...cuts, bytes.length]) {
        split += format(decoder.push(bytes.subarray(start, start + cut)));
        start += cut;
      }
      split += format(decoder.expire());
      const whole = new KeyDecoder();
      assertEquals(split, format(whole.push(bytes)) + format(whole.expire()));
    }),
  );
});

Deno.test("KeyDecoder: ignores control characters without a key, also after an Escape", () => {
  const decoder = new KeyDecoder();
  assertEquals(format(decoder.push(encoder.encode("a\x80b\x1b\x80c\x1b\x9fd"))), "abcd");
});

Deno.test("KeyDecoder: accepts any bytes, and reads a key after them", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), (chunks) => {
      const decoder = new KeyDecoder();
      for (const chunk of chunks) {
        for (const event of decoder.push(chunk)) {
          const text = event.type === "key" ? event.name : event.text;
          // deno-lint-ignore no-control-regex -- matches control characters
          assert(!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text), JSON.stringify(event));
        }
      }
      while (decoder.awaitsMs !== undefined && decoder.awaitsMs !== 2_000) decoder.expire();
      assert(format(decoder.push(encoder.encode("\x03"))).endsWith("<ctrl+c>"));
    }),
  );
});

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseKeys, TypedEditor } from "../../tests/cli/typed_editor.ts";
import { startThreadTimer } from "../../tests/thread_time.ts";
import { splitGraphemes } from "../render/text_width.ts";
import { KEY_ACTIONS } from "../settings/key_actions.ts";
import { editLine } from "./edit_line.ts";
import { createEditorState } from "./editor_state.ts";
import { resolveBindings } from "./key_bindings.ts";

/** Rows of keys and the text after them, with `|` as the cursor; each row continues the one before. */
function assertTexts(
  editor: TypedEditor,
  rows: readonly (readonly [keys: string, text: string])[],
) {
  for (const [keys, text] of rows) assertEquals(editor.type(keys).text, text, keys);
}

Deno.test("editLine() moves by graphemes, words and lines", () => {
  assertTexts(new TypedEditor(), [
    ["one two", "one two|"],
    ["<left><ctrl+b>", "one t|wo"],
    ["<ctrl+left>", "one |two"],
    ["<alt+b>", "|one two"],
    ["<alt+f>", "one| two"],
    ["<ctrl+right>", "one two|"],
    ["<home>", "|one two"],
    ["<ctrl+e>", "one two|"],
    ["<ctrl+j>a\u0301", "one two\na\u0301|"],
    ["<left><left>", "one two|\na\u0301"],
    ["<ctrl+a><right>", "o|ne two\na\u0301"],
    ["<ctrl+end>", "one two\na\u0301|"],
    ["<ctrl+home>", "|one two\na\u0301"],
  ]);
  const emoji = new TypedEditor().type("<paste:a👨‍👩‍👧🇩🇪b>");
  assertTexts(emoji, [
    ["<left><left>", "a👨‍👩‍👧|🇩🇪b"],
    ["<left>", "a|👨‍👩‍👧🇩🇪b"],
    ["<delete>", "a|🇩🇪b"],
    ["<right><backspace>", "a|b"],
  ]);
});

Deno.test("editLine() joins combining characters to the character before the cursor", () => {
  const editor = new TypedEditor().type("ex<left>");
  editor.press({ type: "character", text: "\u0301" });
  assertTexts(editor, [["<left>", "|e\u0301x"], ["<right><backspace>", "|x"]]);
});

Deno.test("editLine() deletes, kills and inserts killed text", () => {
  assertTexts(new TypedEditor(), [
    ["one two three", "one two three|"],
    ["<ctrl+w>", "one two |"],
    ["<alt+backspace>", "one |"],
    ["<ctrl+y>", "one two three|"],
    ["<ctrl+a><alt+d>", "| two three"],
    ["<ctrl+e><ctrl+y>", " two threeone|"],
    ["<alt+y>", " two threetwo three|"],
    ["<alt+y>", " two threeone|"],
    ["<right><alt+y>", " two threeone|"],
    ["<ctrl+u>", "|"],
    ["ab<ctrl+t>", "ba|"],
    ["<ctrl+j>cd<up><ctrl+k>", "ba|cd"],
    ["<ctrl+h><ctrl+d><delete>", "b|"],
  ]);
});

Deno.test("editLine() undoes words, deletions and pasted texts", () => {
  assertTexts(new TypedEditor(), [
    ["one two<paste:\nlines>", "one two\nlines|"],
    ["<ctrl+_>", "one two|"],
    ["<ctrl+_>", "one|"],
    ["<ctrl+_>", "|"],
    ["<ctrl+_>", "|"],
    ["abc<ctrl+u>", "|"],
    ["<ctrl+shift+->", "abc|"],
  ]);
});

Deno.test("editLine() starts new lines, and a backslash before Enter does too", () => {
  const editor = new TypedEditor();
  assertTexts(editor, [
    ["a<ctrl+j>b<shift+enter>c\\<enter>d", "a\nb\nc\nd|"],
    ["<up><up>", "a\nb|\nc\nd"],
  ]);
  assertEquals(editor.takeEffects(), []);
  editor.type("<enter>");
  assertEquals(editor.takeEffects(), [{ type: "submit", text: "a\nb\nc\nd" }]);
  editor.type("path\\\\<enter>");
  assertEquals(editor.takeEffects(), [{ type: "submit", text: "path\\\\" }]);
});

Deno.test("editLine() keeps the column over shorter lines", () => {
  const editor = new TypedEditor().type("<paste:long line\nab\n한글한글한글>");
  assertTexts(editor, [
    ["<up>", "long line\nab|\n한글한글한글"],
    ["<up>", "long line|\nab\n한글한글한글"],
    ["<left><left><down><down>", "long line\nab\n한글한|글한글"],
  ]);
});

Deno.test("editLine() inserts a pasted text as one piece and never sends it", () => {
  const editor = new TypedEditor().type("a<paste:x\ny\n>b");
  assertEquals(editor.text, "ax\ny\nb|");
  editor.press({ type: "paste", text: "z", omitted: 10 });
  assertEquals(editor.takeEffects(), [
    { type: "notice", message: "The pasted text was cut: 10 characters are missing." },
  ]);
  const large = new TypedEditor();
  for (let count = 0; count < 3; count++) {
    large.press({ type: "paste", text: "x".repeat(500_000), omitted: 0 });
  }
  assertEquals(large.state.text.length, 1_048_576);
  assertEquals(large.takeEffects().map(({ type }) => type), ["notice"]);
});

Deno.test("editLine() sends the text, queues it, and hands other actions out", () => {
  const editor = new TypedEditor().type("a<alt+enter>b<enter>");
  editor.type("<shift+tab><f2><shift+left><shift+right><ctrl+z><ctrl+g><ctrl+l><ctrl+q>");
  assertEquals(
    editor.takeEffects().map((effect) => effect.type === "action" ? effect.name : effect.type),
    [
      "follow_up",
      "submit",
      "toggle_plan",
      "expand_tool",
      "previous_tool",
      "next_tool",
      "suspend",
      "editor",
      "redraw",
      "quit",
    ],
  );
  assertEquals(editor.text, "|");
});

Deno.test("editLine(): Ctrl+C clears the text, then aborts; Escape aborts; Ctrl+D leaves from an empty input", () => {
  const editor = new TypedEditor().type("text<ctrl+c>");
  assertEquals([editor.text, editor.takeEffects()], ["|", []]);
  assertEquals(editor.type("<ctrl+_>").text, "text|");
  editor.type("<escape><ctrl+d>");
  assertEquals([editor.text, editor.takeEffects().map(({ type }) => type)], ["text|", ["abort"]]);
  editor.type("<ctrl+c><ctrl+c><ctrl+d>");
  assertEquals(editor.takeEffects().map(({ type }) => type), ["abort", "quit"]);
});

const history = ["latest", "second\nwith two lines", "first"];

Deno.test("editLine() shows the entries of the history before the first and after the last line", () => {
  assertTexts(new TypedEditor({ history }), [
    ["draft<up>", "latest|"],
    ["<up>", "second\nwith two lines|"],
    ["<up>", "second|\nwith two lines"],
    ["<up>", "first|"],
    ["<up>", "first|"],
    ["<down>", "second\nwith two lines|"],
    ["<down>", "latest|"],
    ["<down>", "draft|"],
    ["<down>", "draft|"],
  ]);
});

Deno.test("editLine() searches the history for a text as it is typed", () => {
  const entries = ["run the tests", "fix the tests", "Fix a bug", "unlike"];
  const editor = new TypedEditor({ history: entries });
  assertTexts(editor, [
    ["draft<ctrl+r>", "draft|"],
    ["the", "run |the tests"],
    ["<ctrl+r>", "fix |the tests"],
    ["<ctrl+r>", "fix |the tests"],
  ]);
  assertEquals(editor.state.mode.type, "search");
  assertTexts(editor, [
    ["<ctrl+s>", "run |the tests"],
    ["<ctrl+s>", "run |the tests"],
    ["<ctrl+r> t", "fix |the tests"],
    ["<backspace>", "run |the tests"],
    ["<ctrl+c>", "draft|"],
    ["<ctrl+r>fix", "|fix the tests"],
    ["<backspace><backspace><backspace>", "draft|"],
    ["Fix", "|Fix a bug"],
    ["<escape>", "|Fix a bug"],
    ["<end>!", "Fix a bug!|"],
    ["<ctrl+r>none", "ru|n the tests"],
    ["<ctrl+g>", "Fix a bug!|"],
  ]);
  assertEquals(editor.takeEffects(), []);
  editor.type("<ctrl+r>unl<enter>");
  assertEquals(editor.takeEffects(), [{ type: "submit", text: "unlike" }]);
});

Deno.test("editLine() continues the history from the entry that a search has found", () => {
  const entries = ["one", "two", "three", "four"];
  assertTexts(new TypedEditor({ history: entries }), [
    ["draft<ctrl+r>three<escape><up>", "four|"],
    ["<down><down><down>", "one|"],
    ["<down>", "draft|"],
  ]);
});

Deno.test("editLine() completes words that begin with / and # at the start, and @ anywhere", () => {
  const requested: string[] = [];
  const complete = (word: string) => {
    requested.push(word);
    return [];
  };
  new TypedEditor({ complete }).type('/m<enter>a/b #c @d<enter>/model x<enter>"#e');
  assertEquals(requested, [
    "/",
    "/m",
    "@",
    "@d",
    "/",
    "/m",
    "/mo",
    "/mod",
    "/mode",
    "/model",
    "",
    "x",
  ]);
  const quoted: string[] = [];
  const editor = new TypedEditor({ complete: (word) => (quoted.push(word), []) });
  editor.type('@"a b<tab>');
  assertEquals(quoted.at(-1), '@"a b');
});

Deno.test("editLine() inserts a selected completion, and Enter without a selection sends the text", () => {
  const names = ["/model", "/models", "/mcp"];
  const complete = (word: string) =>
    names.filter((name) => name.startsWith(word)).map((text) => ({ text }));
  const editor = new TypedEditor({ complete });
  assertTexts(editor, [
    ["/m<down>", "/m|"],
    ["<enter>", "/model |"],
    ["<ctrl+u>/m<up><tab>", "/mcp |"],
    ["<ctrl+u>/mo<tab>", "/model|"],
    ["<tab><tab>", "/model |"],
    ["<ctrl+u>/mc<tab>", "/mcp |"],
    ["<ctrl+u>/m<escape>", "/m|"],
  ]);
  assertEquals(editor.state.menu, undefined);
  assertEquals(editor.takeEffects(), []);
  editor.type("<ctrl+u>/mo<enter>");
  assertEquals(editor.takeEffects(), [{ type: "submit", text: "/mo" }]);
});

Deno.test("editLine() continues the completion of a directory, and adds no second space", () => {
  const complete = (word: string) => {
    if (word === "@s") return [{ text: "@src/", isPartial: true }];
    return word === "@src/" ? [{ text: "@src/a.ts" }, { text: "@src/b.ts" }] : [];
  };
  assertTexts(new TypedEditor({ complete }), [
    ["see @s<tab>", "see @src/|"],
    ["<down><down><enter>now", "see @src/b.ts now|"],
    ["<ctrl+u>x y<left><left>", "x| y"],
    [" @s<tab><down><tab>", "x @src/a.ts| y"],
  ]);
});

Deno.test("showCompletions() ignores completions of an earlier text", () => {
  const editor = new TypedEditor().type("/m");
  const [, effect] = editor.takeEffects();
  assert(effect?.type === "complete");
  const late = new TypedEditor({ complete: () => [{ text: "/model" }] });
  late.state = { ...editor.state, text: "/mx", cursor: 3 };
  late.press({ type: "key", name: "up", ctrl: false, alt: false, shift: false });
  assertEquals(late.state.menu, undefined);
});

const keyNames = [
  "left",
  "right",
  "up",
  "down",
  "home",
  "end",
  "ctrl+left",
  "ctrl+right",
  "alt+b",
  "alt+f",
  "backspace",
  "delete",
  "ctrl+w",
  "ctrl+k",
  "ctrl+u",
  "ctrl+y",
  "alt+y",
  "alt+d",
  "ctrl+t",
  "ctrl+_",
  "ctrl+j",
  "enter",
  "alt+enter",
  "escape",
  "ctrl+c",
  "ctrl+d",
  "ctrl+r",
  "ctrl+s",
  "tab",
  "ctrl+home",
  "ctrl+end",
  "f2",
  "ctrl+z",
];

/** Random keys. */
const events = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...keyNames).map((name) => parseKeys(`<${name}>`)) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(..."abdcwxe0$hjklGgpPuioOIASDXY:/@r 3\\").map((text) =>
        parseKeys(text)
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("ä", "\u0301", "👨‍👩‍👧", "\u200d", "🇩", "한", "\t", "\u05d0", "\ud83d")
        .map((text) => [{ type: "character", text } as const]),
    },
    {
      weight: 1,
      arbitrary: fc.string({ unit: "grapheme" }).map((
        text,
      ) => [{ type: "paste", text: text.replaceAll("\r", ""), omitted: 0 } as const]),
    },
  ).map((keys) => keys.flat()),
  { maxLength: 60 },
).map((keys) => keys.flat());

for (const hasViKeys of [false, true]) {
  Deno.test(`editLine() never throws, and keeps the cursor between graphemes${hasViKeys ? ", with vi keys" : ""}`, () => {
    const complete = (word: string) =>
      ["/model", "/mcp", "@src/"].filter((text) => text.startsWith(word)).map((text) => ({ text }));
    fc.assert(
      fc.property(events, (keys) => {
        const editor = new TypedEditor({ hasViKeys, history, complete });
        for (const key of keys) {
          editor.press(key);
          const { text, cursor, undo, killed, mode } = editor.state;
          assert(cursor >= 0 && cursor <= text.length);
          const before = splitGraphemes(text.slice(0, cursor));
          const after = splitGraphemes(text.slice(cursor));
          assertEquals([...before, ...after], splitGraphemes(text), JSON.stringify([text, cursor]));
          assert(undo.length <= 200 && killed.length <= 20);
          if (mode.type === "normal") {
            const isAtEnd = cursor === text.length || text[cursor] === "\n";
            const isEmptyLine = cursor === 0 || text[cursor - 1] === "\n";
            assert(!isAtEnd || isEmptyLine, JSON.stringify([text, cursor]));
          }
        }
      }),
      { numRuns: 300 },
    );
  });
}

Deno.test("editLine() returns to the empty text by undo", () => {
  fc.assert(fc.property(events, (keys) => {
    const editor = new TypedEditor({ history });
    for (const key of keys) editor.press(key);
    editor.type("<escape>");
    for (let count = 0; count < 200 && editor.state.undo.length > 0; count++) {
      editor.type("<ctrl+_>");
    }
    assertEquals(editor.text, "|");
  }));
});

Deno.test("editLine() uses configured keys instead of the default ones", () => {
  const bindings = resolveBindings({ submit: ["ctrl+s"], newline: ["enter"], abort: ["f9"] });
  const editor = new TypedEditor({ bindings }).type("a<enter>b<escape><ctrl+s>");
  assertEquals(editor.takeEffects(), [{ type: "submit", text: "a\nb" }]);
  const initial = createEditorState();
  for (const name of Object.keys(KEY_ACTIONS)) assert(/^[a-z_]+$/.test(name));
  assertEquals(
    editLine(initial, { type: "paste", text: "", omitted: 0 }, {
      bindings,
      hasViKeys: false,
      history: [],
    }).state.text,
    "",
  );
});

Deno.test("editLine(): a key that is bound to abort keeps the text, as Escape does", () => {
  const bindings = resolveBindings({ abort: ["ctrl+x", "f9"] });
  const editor = new TypedEditor({ bindings }).type("text<ctrl+x><f9>");
  assertEquals(editor.text, "text|");
  assertEquals(editor.takeEffects().map(({ type }) => type), ["abort", "abort"]);
});

Deno.test("editLine() applies keys to a large text within half a second", () => {
  const texts = [
    "x".repeat(300_000),
    "한".repeat(300_000),
    "\u0301".repeat(300_000),
    "👩\u200d".repeat(150_000),
  ];
  const keys = [
    "x",
    "<left>",
    "<ctrl+left>",
    "<ctrl+right>",
    "<up>",
    "<ctrl+w>",
    "<ctrl+y>",
    "<ctrl+u>",
    "<ctrl+_>",
  ];
  for (const text of texts) {
    const editor = new TypedEditor();
    editor.press({ type: "paste", text, omitted: 0 });
    for (const key of keys) {
      const getTime = startThreadTimer();
      editor.type(key);
      assert(getTime() < 500, `${key}: ${getTime()} ms`);
    }
  }
});

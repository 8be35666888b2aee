import { assertEquals } from "@std/assert";
import { TypedEditor } from "../../tests/cli/typed_editor.ts";

/** Rows of keys and the text after them, with `|` at the cursor; each begins with the text and the cursor of `from`. */
function assertEdits(from: string, rows: readonly (readonly [keys: string, text: string])[]) {
  for (const [keys, text] of rows) {
    const editor = createEditor(from).type(keys);
    assertEquals(editor.text, text, `${keys} from ${JSON.stringify(from)}`);
  }
}

/** Creates an editor in normal mode, with the cursor at the `|` of a text. */
function createEditor(from: string, history: readonly string[] = []): TypedEditor {
  const editor = new TypedEditor({ hasViKeys: true, history });
  const mode = { type: "normal", pending: "" } as const;
  editor.state = { ...editor.state, text: from.replace("|", ""), cursor: from.indexOf("|"), mode };
  return editor;
}

Deno.test("vi keys: motions inside a line", () => {
  assertEdits("one |two.three  four\nfive", [
    ["h", "one| two.three  four\nfive"],
    ["3h", "o|ne two.three  four\nfive"],
    ["9h", "|one two.three  four\nfive"],
    ["l", "one t|wo.three  four\nfive"],
    ["99l", "one two.three  fou|r\nfive"],
    ["0", "|one two.three  four\nfive"],
    ["$", "one two.three  fou|r\nfive"],
    ["w", "one two|.three  four\nfive"],
    ["3w", "one two.three  |four\nfive"],
    ["4w", "one two.three  four\n|five"],
    ["b", "|one two.three  four\nfive"],
    ["e", "one tw|o.three  four\nfive"],
    ["3e", "one two.thre|e  four\nfive"],
    ["<left><right><end>", "one two.three  fou|r\nfive"],
    ["x3x", "one |three  four\nfive"],
  ]);
});

Deno.test("vi keys: motions over lines, then the history", () => {
  assertEdits("  one\ntw|o\nthree", [
    ["gg", "  |one\ntwo\nthree"],
    ["G", "  one\ntwo\n|three"],
    ["1G", "  |one\ntwo\nthree"],
    ["2gg", "  one\n|two\nthree"],
    ["j", "  one\ntwo\nth|ree"],
    ["k", "  |one\ntwo\nthree"],
    ["99j", "  one\ntwo\nth|ree"],
  ]);
  const editor = createEditor("te|xt", ["earlier", "first"]);
  assertEquals(editor.type("k").text, "earlie|r");
  assertEquals(editor.type("5k").text, "firs|t");
  assertEquals(editor.type("jj").text, "tex|t");
});

Deno.test("vi keys: deletions and changes", () => {
  assertEdits("one |two three\nfour\nfive", [
    ["x", "one |wo three\nfour\nfive"],
    ["X", "one|two three\nfour\nfive"],
    ["2x", "one |o three\nfour\nfive"],
    ["dd", "|four\nfive"],
    ["2dd", "|five"],
    ["9dd", "|"],
    ["dj", "|five"],
    ["dG", "|"],
    ["D", "one| \nfour\nfive"],
    ["dw", "one |three\nfour\nfive"],
    ["de", "one | three\nfour\nfive"],
    ["db", "|two three\nfour\nfive"],
    ["d0", "|two three\nfour\nfive"],
    ["d$", "one| \nfour\nfive"],
    ["cwx", "one x| three\nfour\nfive"],
    ["Cx", "one x|\nfour\nfive"],
    ["ccx", "x|\nfour\nfive"],
    ["2ccx", "x|\nfive"],
    ["sx", "one x|wo three\nfour\nfive"],
    ["Sx", "x|\nfour\nfive"],
    ["rX", "one |Xwo three\nfour\nfive"],
    ["3rX", "one XX|X three\nfour\nfive"],
    ["99rX", "one |two three\nfour\nfive"],
  ]);
  assertEdits("a\nb|", [["dd", "|a"], ["dk", "|"], ["dj", "a\n|b"], ["kdk", "|a\nb"]]);
  assertEdits("on|e", [["dj", "on|e"], ["dk", "on|e"], ["ykp", "on|e"]]);
  assertEdits("one  two\n|three", [["db", "one | \nthree"], ["2db", "|three"]]);
  assertEdits("one  two\n\n  |three", [["db", "one  two\n|three"]]);
});

Deno.test("vi keys: a change of words ends with a word, also from its last character", () => {
  assertEdits("a |b c.d  e\nf", [
    ["cwx", "a x| c.d  e\nf"],
    ["cWx", "a x| c.d  e\nf"],
    ["2cwx", "a x|.d  e\nf"],
    ["wcwx", "a b x|.d  e\nf"],
    ["w2cWx", "a b x|\nf"],
    ["$cwx", "a b c.d  x|\nf"],
    ["lcwx", "a bx|c.d  e\nf"],
  ]);
});

Deno.test("vi keys: an empty line is a word", () => {
  assertEdits("a\n\n\n|b", [["b", "a\n\n|\nb"], ["2B", "a\n|\n\nb"], ["3b", "|a\n\n\nb"]]);
  assertEdits("|a\n\n\nb", [["w", "a\n|\n\nb"], ["2W", "a\n\n|\nb"], ["3w", "a\n\n\n|b"]]);
  assertEdits("a\n|\nb", [["dw", "a\n|b"], ["ciwx", "a\nx|\nb"]]);
  assertEdits("|", [["ciwx", "x|"], ["w", "|"], ["b", "|"]]);
});

Deno.test("vi keys: motions over words between spaces", () => {
  assertEdits("one t|wo.three  f(o)ur\nfive", [
    ["W", "one two.three  |f(o)ur\nfive"],
    ["2W", "one two.three  f(o)ur\n|five"],
    ["B", "one |two.three  f(o)ur\nfive"],
    ["2B", "|one two.three  f(o)ur\nfive"],
    ["E", "one two.thre|e  f(o)ur\nfive"],
    ["2E", "one two.three  f(o)u|r\nfive"],
    ["dW", "one t|f(o)ur\nfive"],
    ["WdW", "one two.three |\u0020\nfive"],
    ["cWx", "one tx|  f(o)ur\nfive"],
    ["dB", "one |wo.three  f(o)ur\nfive"],
  ]);
});

Deno.test("vi keys: Escape ends a search in the history in normal mode", () => {
  const editor = createEditor("te|xt", ["one two", "first"]);
  assertEquals(editor.type("<ctrl+r>two<escape>").text, "one| two");
  assertEquals(editor.state.mode, { type: "normal", pending: "" });
  assertEquals(editor.type("x").text, "one|two");
});

Deno.test("vi keys: searches for a character of the line", () => {
  assertEdits("a,b|,c,d e\nx,y", [
    ["fd", "a,b,c,|d e\nx,y"],
    ["f,", "a,b,c|,d e\nx,y"],
    ["2f,", "a,b|,c,d e\nx,y"],
    ["t,", "a,b,|c,d e\nx,y"],
    ["F,", "a|,b,c,d e\nx,y"],
    ["T,", "a,|b,c,d e\nx,y"],
    ["Fa", "|a,b,c,d e\nx,y"],
    ["fx", "a,b|,c,d e\nx,y"],
    ["0f,;;", "a,b,c|,d e\nx,y"],
    ["0f,2;,", "a,b|,c,d e\nx,y"],
    ["0t,;", "a,|b,c,d e\nx,y"],
    ["$F,,", "a,b,c|,d e\nx,y"],
    [";", "a,b|,c,d e\nx,y"],
    ["dt,", "a,b|,d e\nx,y"],
    ["df,", "a,b|d e\nx,y"],
    ["dF,", "a|,c,d e\nx,y"],
    ["dT,", "a,|,c,d e\nx,y"],
    ["2df,", "a,b|,c,d e\nx,y"],
    ["dfx", "a,b|,c,d e\nx,y"],
    ["ctdz<escape>", "a,b|zd e\nx,y"],
    ["cfxz", "a,b|,c,d e\nx,y"],
    ["f,d;", "a,b,c|,d e\nx,y"],
    ["0f,d;", "a|c,d e\nx,y"],
    ["f<escape>x", "a,b|c,d e\nx,y"],
    ["0t,2;", "a,|b,c,d e\nx,y"],
  ]);
  assertEdits("|a😀b漢c", [["f漢", "a😀b|漢c"], ["t漢", "a😀|b漢c"], ["df😀", "|b漢c"]]);
});

Deno.test("vi keys: text objects", () => {
  assertEdits("say (f|oo.bar) now", [
    ["diw", "say (|.bar) now"],
    ["daw", "say (|.bar) now"],
    ["diW", "say | now"],
    ["daW", "say |now"],
    ["ciwx", "say (x|.bar) now"],
    ["di(", "say (|) now"],
    ["ci)x", "say (x|) now"],
    ["dab", "say | now"],
    ["yiwP", "say (fo|ofoo.bar) now"],
    ["wdiw", "say (foo|bar) now"],
    ["di[", "say (f|oo.bar) now"],
    ["dixx", "say (f|o.bar) now"],
    ["ciwa b<escape>u", "say (f|oo.bar) now"],
    ["$daw", "say (foo.bar|)"],
  ]);
  assertEdits('a = |"b \\" c" + \'d\'', [
    ['di"', "a = \"|\" + 'd'"],
    ['da"', "a = |+ 'd'"],
    ["ci'x", 'a = "b \\" c" + \'x|\''],
    ["di`", 'a = |"b \\" c" + \'d\''],
  ]);
  assertEdits("f(a, [1, (|2)],\n  {b: {}})", [
    ["di(", "f(a, [1, (|)],\n  {b: {}})"],
    ["ci[x", "f(a, [x|],\n  {b: {}})"],
    ["j0fbdi{", "f(a, [1, (2)],\n  {|})"],
  ]);
  assertEdits("f(|)", [["ci(x", "f(x|)"], ["hci(x", "f(x|)"]]);
  assertEdits("|", [["diw", "|"], ["daw", "|"], ['ci"', "|"]]);
  assertEdits("  o|ne two.three  four", [
    ["2daw", "  |.three  four"],
    ["d2aW", "  |four"],
    ["3diw", "  |.three  four"],
    ["c3awx", "  x|three  four"],
    ["WWdaw", "  one two.thre|e"],
    ["$d2aW", "  one two.thre|e"],
  ]);
  assertEdits("f() + g(a, (|b), h())", [
    ["di(", "f() + g(a, (|), h())"],
    ["2di(", "f() + g(|)"],
    ["d2ab", "f() + |g"],
    ["3di(", "f() + g(a, (|b), h())"],
  ]);
  assertEdits("f(|) a", [["$yiwhhhdi(P", "f(|a) a"]]);
});

Deno.test("vi keys: % moves to the other bracket", () => {
  assertEdits("|if (a[0] && (b)) {\n}", [
    ["%", "if (a[0] && (b)|) {\n}"],
    ["%%", "if |(a[0] && (b)) {\n}"],
    ["$%", "if (a[0] && (b)) {\n|}"],
    ["d%", "| {\n}"],
  ]);
  assertEdits("a| (", [["%", "a| ("]]);
});

Deno.test("vi keys: the case of characters, and joined lines", () => {
  assertEdits("o|nE ß\n  two\n\nthree", [
    ["~", "oN|E ß\n  two\n\nthree"],
    ["2~", "oNe| ß\n  two\n\nthree"],
    ["9~", "oNe S|S\n  two\n\nthree"],
    ["~~u", "oN|E ß\n  two\n\nthree"],
    ["J", "onE ß| two\n\nthree"],
    ["3J", "onE ß tw|o\nthree"],
    ["3Ju", "o|nE ß\n  two\n\nthree"],
    ["GJ", "onE ß\n  two\n\n|three"],
  ]);
});

Deno.test("vi keys: insertions", () => {
  assertEdits("  o|ne\ntwo", [
    ["ix", "  ox|ne\ntwo"],
    ["ax", "  onx|e\ntwo"],
    ["Ix", "  x|one\ntwo"],
    ["Ax", "  onex|\ntwo"],
    ["ox", "  one\nx|\ntwo"],
    ["Ox", "x|\n  one\ntwo"],
    ["ix<escape>", "  o|xne\ntwo"],
    ["A<escape>", "  on|e\ntwo"],
  ]);
});

Deno.test("vi keys: killed and copied texts, and undo", () => {
  assertEdits("o|ne\ntwo", [
    ["xp", "oe|n\ntwo"],
    ["xP", "o|ne\ntwo"],
    ["ddp", "two\n|one"],
    ["yyp", "one\n|one\ntwo"],
    ["yyP", "|one\none\ntwo"],
    ["Y2p", "one\n|one\none\ntwo"],
    ["ywP", "on|ene\ntwo"],
    ["jddP", "|two\none"],
    ["jykp", "one\n|one\ntwo\ntwo"],
    ["x3p", "oenn|n\ntwo"],
    ["xxu", "o|e\ntwo"],
    ["xx2u", "o|ne\ntwo"],
    ["ixy<escape>u", "o|ne\ntwo"],
    ["A, and more<escape>u", "o|ne\ntwo"],
    ["A, and <backspace>more<escape>xu", "one, andmor|e\ntwo"],
    ["cwtwo words<escape>u", "o|ne\ntwo"],
    ["oa line<escape>ggx2u", "o|ne\ntwo"],
    ["cwa b<escape>i<escape>u", "o|ne\ntwo"],
  ]);
});

Deno.test("vi keys: an unknown or unfinished command has no effect", () => {
  assertEdits("o|ne", [
    ["qx", "o|e"],
    ["gqx", "o|e"],
    ["dqx", "o|e"],
    ["d<escape>x", "o|e"],
    ["3<escape>x", "o|e"],
    ["<paste:dd>x", "ond|e"],
    ["99999999999999999999x", "|o"],
  ]);
});

Deno.test("vi keys: Escape changes only the mode, and Ctrl+C aborts", () => {
  const editor = new TypedEditor({ hasViKeys: true }).type("ab<escape><escape>");
  assertEquals([editor.state.mode.type, editor.takeEffects()], ["normal", []]);
  editor.type("<ctrl+c>");
  assertEquals([editor.text, editor.state.mode.type], ["|", "insert"]);
  editor.type("<ctrl+c>");
  assertEquals(editor.takeEffects().map(({ type }) => type), ["abort"]);
});

Deno.test("vi keys: Enter sends the text in both modes, and the next text is inserted", () => {
  const editor = new TypedEditor({ hasViKeys: true }).type("ab<enter>cd<escape><enter>ef");
  assertEquals(editor.takeEffects(), [
    { type: "submit", text: "ab" },
    { type: "submit", text: "cd" },
  ]);
  assertEquals(editor.text, "ef|");
});

Deno.test("vi keys: commands after a colon are handed out", () => {
  const editor = new TypedEditor({ hasViKeys: true }).type("text<escape>:net on");
  assertEquals(editor.state.mode, { type: "command", text: "net on" });
  editor.type("<backspace>ff<enter>");
  assertEquals(editor.takeEffects(), [{ type: "command", text: "net off" }]);
  assertEquals([editor.text, editor.state.mode.type], ["tex|t", "normal"]);
  for (
    const keys of [":<backspace>", ":a<escape>", ":a<ctrl+c>", ": <enter>", ":a<ctrl+u><backspace>"]
  ) {
    assertEquals(editor.type(keys).state.mode.type, "normal", keys);
  }
  assertEquals([editor.text, editor.takeEffects()], ["tex|t", []]);
});

Deno.test("vi keys: a key with Alt in insert mode is Escape and the key", () => {
  const editor = new TypedEditor({ hasViKeys: true }).type("ab<alt+x>");
  assertEquals([editor.text, editor.state.mode.type], ["|a", "normal"]);
});

Deno.test("vi keys: a text that is pasted in normal mode is inserted behind the cursor, or at the beginning of a line", () => {
  assertEdits("o|ne", [
    ["<paste:dd>", "ond|de"],
    ["<paste:a\nb>", "ona\n|be"],
    ["0<paste:dd>", "d|done"],
    ["$<paste:dd>", "oned|d"],
    ["d<paste:x>w", "onx|e"],
    ["<paste:dd>u", "o|ne"],
  ]);
  assertEdits("|", [["<paste:dd>", "d|d"]]);
  const editor = createEditor("|");
  editor.press({ type: "paste", text: "z", omitted: 10 });
  assertEquals(editor.takeEffects(), [
    { type: "notice", message: "The pasted text was cut: 10 characters are missing." },
  ]);
});

import { type BannedWordMatch, findBannedName, findBannedWords } from "./banned_words.ts";

type Comment = Deno.lint.LineComment | Deno.lint.BlockComment;

const EXEMPT = /\/tests\/fixtures\/|\/banned_words(_test)?\.ts$/;

/** Matches a block of `//` or `/**` whose first word is "What". */
const OPENING_WHAT = /^[\s*]*What\b/;

/** Caches the matches of names, which repeat. */
const checkedNames = new Map<string, BannedWordMatch | undefined>();

/** Reports banned words in names, comments and texts. `banned_words.ts` lists them. */
export const plainLanguage: Deno.lint.Rule = {
  create(context) {
    const path = context.filename.replaceAll("\\", "/");
    if (EXEMPT.test(path)) return {};
    const reportedNames = new Set<string>();

    /** Reports a name at its first occurrence in the file. */
    function checkName(node: Deno.lint.Identifier | Deno.lint.PrivateIdentifier): void {
      if (reportedNames.has(node.name) || isMathProperty(node)) return;
      const match = findCachedName(node.name);
      if (!match) return;
      reportedNames.add(node.name);
      report(node.range, `Identifier "${node.name}" uses "${match.word}".`, match.instead);
    }

    function checkText(node: Deno.lint.Node, text: string): void {
      for (const { word, instead } of findBannedWords("text", text)) {
        report(node.range, `Text uses "${word}".`, instead);
      }
    }

    function checkComment(comment: Comment): void {
      const [start] = comment.range;
      const isExempt = isIgnored(context.sourceCode.text, start);
      const reportAt = (index: number, length: number, message: string, instead: string) => {
        const position = start + 2 + index; // after "//" or "/*"
        report(isExempt ? comment.range : [position, position + length], message, instead);
      };
      const [opening] = comment.value.match(OPENING_WHAT) ?? [];
      if (opening) {
        const index = opening.length - "What".length;
        reportAt(index, 4, `Comment begins with "What".`, "the noun itself, or a verb");
      }
      for (const { word, index, instead } of findBannedWords("comment", comment.value)) {
        reportAt(index, word.length, `Comment uses "${word}".`, instead);
      }
    }

    function report(range: Deno.lint.Range, message: string, instead: string): void {
      context.report({ range, message, hint: `Write: ${instead}.` });
    }

    return {
      Program() {
        const fileName = path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
        const match = findCachedName(fileName);
        if (match) report([0, 1], `File name uses "${match.word}".`, match.instead);
        context.sourceCode.getAllComments().forEach(checkComment);
      },
      Identifier: checkName,
      PrivateIdentifier: checkName,
      Literal(node) {
        if (typeof node.value === "string") checkText(node, node.value);
      },
      TemplateElement(node) {
        checkText(node, node.cooked);
      },
    };
  },
};

function findCachedName(name: string): BannedWordMatch | undefined {
  if (!checkedNames.has(name)) checkedNames.set(name, findBannedName(name));
  return checkedNames.get(name);
}

/** Whether a name belongs to the platform, as `Math.floor` does. */
function isMathProperty(node: Deno.lint.Identifier | Deno.lint.PrivateIdentifier): boolean {
  const { parent } = node;
  return parent.type === "MemberExpression" && parent.property === node &&
    parent.object.type === "Identifier" && parent.object.name === "Math";
}

/**
 * Whether the line above a comment is an ignore directive for this rule. The directive only covers the next line, so a
 * report on a later line of the comment has to move to its start.
 */
function isIgnored(text: string, start: number): boolean {
  const before = text.slice(0, start).trimEnd();
  const line = before.slice(before.lastIndexOf("\n") + 1);
  return /\/\/ deno-lint-ignore\b.*swink\/plain-language/.test(line);
}

import { isCodeIn } from "./directories.ts";

const MAX_LINES = 80;

type AnyFunction =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

/** A function reads as prose: its steps are functions of their own. */
export const functionLength: Deno.lint.Rule = {
  create(context) {
    if (!isCodeIn("src|adapters|cli", context.filename)) return {};

    function check(node: AnyFunction): void {
      const lines = context.sourceCode.getText(node).split("\n").length;
      if (lines <= MAX_LINES) return;
      context.report({
        node,
        message: `This function has ${lines} lines; ${MAX_LINES} are the limit.`,
        hint: "Give its stages functions of their own, with values between them.",
      });
    }

    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};

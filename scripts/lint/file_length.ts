const MAX_LINES = 500;

/** Limits the length of a file to 500 lines. */
export const fileLength: Deno.lint.Rule = {
  create(context) {
    return {
      Program(node) {
        const lines = context.sourceCode.text.split("\n").length - 1;
        if (lines <= MAX_LINES) return;
        context.report({
          node,
          message: `This file has ${lines} lines; the limit is ${MAX_LINES}.`,
          hint: "Split it into files with one purpose each.",
        });
      },
    };
  },
};

// The table of causes notices a change of any rule: each condition, comparison, choice and list of remedies of the diagnosis
// is altered in turn, and at least one row has to tell the difference.

import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

import * as words from '../src/text';
import * as visible from '../src/text/visible';
import type { classify } from '../src/workspace/causes';
import { ROWS } from './causes_table';

const FILE = 'src/workspace/causes.ts';
const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
/** The diagnosis as a script, which is parsed and altered without another compilation. */
const SOURCE = ts.transpileModule(readFileSync(FILE, 'utf8'), { compilerOptions }).outputText;

interface Mutant {
  what: string;
  source: string;
}

const COMPARISONS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.GreaterThanToken, '>='],
]);

/** The texts that may stand in the place of a node. */
function alternatives(node: ts.Node, text: (node: ts.Node) => string): string[] {
  if (ts.isIfStatement(node.parent) && node.parent.expression === node) return ['true', 'false', ...inner(node, text)];
  return inner(node, text);
}

function inner(node: ts.Node, text: (node: ts.Node) => string): string[] {
  if (ts.isBinaryExpression(node)) {
    const { left, right, operatorToken } = node;
    const other = COMPARISONS.get(operatorToken.kind);
    if (other) return [`${text(left)} ${other} ${text(right)}`];
    const joins = [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken].includes(operatorToken.kind);
    return joins ? [`(${text(left)})`, `(${text(right)})`] : [];
  }
  if (ts.isPrefixUnaryExpression(node)) return [text(node.operand)];
  if (ts.isConditionalExpression(node)) return [text(node.whenTrue), text(node.whenFalse)];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) {
    const [, ...rest] = node.elements.map(text);
    const turned = node.elements.map(text).reverse();
    return [`[${rest.join(', ')}]`, ...(rest.length > 0 ? [`[${turned.join(', ')}]`] : [])];
  }
  return [];
}

function mutants(): Mutant[] {
  const file = ts.createSourceFile('causes.js', SOURCE, ts.ScriptTarget.Latest, true);
  const text = (node: ts.Node): string => node.getText(file);
  const found: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    for (const other of new Set(alternatives(node, text))) {
      const [from, to] = [node.getStart(file), node.getEnd()];
      const line = file.getLineAndCharacterOfPosition(from).line + 1;
      found.push({ what: `line ${line}: ${text(node)} -> ${other}`, source: SOURCE.slice(0, from) + other + SOURCE.slice(to) });
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(file, visit);
  return found;
}

/** What a source says of each row of the table. */
function said(source: string): string[] {
  const made = {} as { classify: typeof classify };
  const modules: Record<string, unknown> = { '../text': words, '../text/visible': visible };
  new Function('exports', 'require', source)(made, (name: string) => modules[name]);
  return ROWS.map(([, facts]) => {
    try {
      return JSON.stringify(made.classify(facts));
    } catch (error) {
      return String(error);
    }
  });
}

describe('a change of a rule', () => {
  const right = said(SOURCE);
  const all = mutants();

  it('is tried for each of them', () => {
    expect(all.length).toBeGreaterThan(100);
  });

  it('is noticed by a row of the table', () => {
    const unnoticed = all.filter(({ source }) => said(source).every((line, at) => line === right[at]));
    expect(unnoticed.map(({ what }) => what)).toEqual([]);
  });
});

/** Renders the literals of a syntax tree as the texts that users see. */

/**
 * @typedef {import('oxc-parser').Node} Node
 *
 * @typedef {object} Rendered
 * @property {string} text
 * @property {Node[]} values The expressions in it, which may have texts of their own.
 */

/**
 * The text of a literal, of a template, or of several that are added.
 *
 * @param {Node} node
 * @returns {Rendered | undefined}
 */
export function textOf(node) {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? { text: node.value, values: [] } : undefined;
    case 'TemplateLiteral': {
      const values = node.expressions.map(valueOf);
      const texts = node.quasis.map(({ value }, index) => value.cooked + (values[index]?.text ?? ''));
      return { text: texts.join(''), values: values.flatMap((each) => each.values) };
    }
    case 'BinaryExpression': {
      const sides = [node.left, node.right];
      if (node.operator !== '+' || sides.every((side) => textOf(side) === undefined)) return undefined;
      const texts = sides.map((side) => textOf(side) ?? valueOf(side));
      return { text: texts.map(({ text }) => text).join(''), values: texts.flatMap(({ values }) => values) };
    }
    default:
      return undefined;
  }
}

/** A value as `{name}`, or `{one|other}` where it chooses between texts. */
function valueOf(node) {
  if (node.type !== 'ConditionalExpression') return { text: `{${nameOf(node)}}`, values: [node] };
  const choice = [node.consequent, node.alternate].map(
    (each) => textOf(each) ?? { text: nameOf(each), values: [each] },
  );
  return {
    text: `{${choice.map(({ text }) => text).join('|')}}`,
    values: choice.flatMap(({ values }) => values),
  };
}

/** Objects whose methods say less of a value than their argument. */
const namespaces = /^(?:JSON|Math|Object|util)$/;

/** What a value is called: `port` for `String(options.port)`. */
function nameOf(node) {
  switch (node.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return node.name;
    case 'Literal':
      return String(node.value);
    case 'MemberExpression':
      return nameOf(node.computed ? node.object : node.property);
    case 'CallExpression':
    case 'NewExpression': {
      const [argument] = node.arguments;
      const { object } = node.callee;
      if (object && !namespaces.test(object.name) && object.type !== 'ThisExpression') return nameOf(object);
      return nameOf(argument ?? node.callee);
    }
    default: {
      const inner =
        node.argument ?? node.expression ?? node.left ?? node.test ?? node.elements?.find(Boolean);
      return inner ? nameOf(inner) : '…';
    }
  }
}

/** Whether a text is for people: it is a sentence, or has two words. */
export function isText(text) {
  if (notForPeople.some((pattern) => pattern.test(text))) return false;
  const words = text
    .replaceAll(/\{[^{}]*\}/g, ' ')
    .match(/(?<![\w.,:/=<>-])\p{L}[\p{L}’'-]*(?=[\s.,:;?!)"]|$)/gu);
  return words !== null && (words.length > 1 || /^\p{Lu}\p{Ll}+ .*\.\n?$/u.test(text));
}

const notForPeople = [
  /\r|^(?:event|data|id): |\ndata: |^\{"/, // frames and JSON
  /^[\w/+-]+(?:, [\w/+-]+)+$/, // lists of headers and of media types
  /^[A-Z ]+$|^\|/, // methods, and heads of tables
  /^(?:[a-z]+-src|base-uri|form-action|frame-ancestors) /, // content security policy
  /^(?:\{\w+\})*(?:\/\/|\/\*\*|import |export |type |readonly |\[Key in |, Errors = )/, // generated code
  /^keys \w+$/, // commands
  /^(?:first|second) input$|^Invalid: /, // the inputs of selfTest.ts
];

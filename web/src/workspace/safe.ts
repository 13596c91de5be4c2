// The only place where text becomes markup: a policy of Trusted Types that sanitises.

import createDOMPurify from 'dompurify';

const TAGS = [
  'p', 'br', 'hr', 'h3', 'h4', 'h5', 'h6', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a', 'table',
  'thead', 'tbody', 'tr', 'th', 'td',
];
const ATTRIBUTES = ['href', 'title', 'start', 'class', 'align', 'dir'];

const purify = createDOMPurify(window);
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer');
  }
  const name = node.getAttribute('class');
  if (name !== null && (node.nodeName !== 'CODE' || !/^language-[\w+#.-]+$/.test(name))) node.removeAttribute('class');
});

interface Policy {
  createHTML: (markup: string) => string;
}
interface Factory {
  createPolicy: (name: string, rules: Policy) => Policy;
}

const rules: Policy = {
  createHTML: (markup) =>
    purify.sanitize(markup, {
      ALLOWED_TAGS: TAGS,
      ALLOWED_ATTR: ATTRIBUTES,
      ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
      ADD_URI_SAFE_ATTR: ['dir', 'align', 'start'],
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
    }),
};
const { trustedTypes } = window as { trustedTypes?: Factory };
const policy = trustedTypes?.createPolicy('link-markdown', rules) ?? rules;

/** Fills an element with markup, without what could act. */
export function fill(element: Element, markup: string): void {
  element.innerHTML = policy.createHTML(markup);
}

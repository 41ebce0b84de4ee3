import { describe, expect, it } from 'vitest';
import { codeIn, headingsIn, hrefsIn, markdownPage } from './markdown-page.ts';

const page = (text: string) => markdownPage(text, (href) => (href === 'gone' ? undefined : `to/${href}`));

describe('markdownPage', () => {
  it('uses the first heading as title, and gives every heading an anchor', () => {
    const { title, html } = page('# What it is\n\n## How, and `why`');
    expect(title).toBe('What it is');
    expect(html).toContain(
      '<h2 id="how-and-why"><a class="anchor" href="#how-and-why">How, and <code>why</code></a></h2>',
    );
  });

  it('rewrites links, and keeps only the text of links without a target', () => {
    const { html } = page('[here](it) [there](gone) ![picture](it.png)');
    expect(html).toBe('<p><a href="to/it">here</a> there <img src="to/it.png" alt="picture"></p>\n');
  });

  it('highlights and escapes code', () => {
    expect(page('```ts\nconst a = "<b>";\n```').html).toContain('<span class="hljs-keyword">const</span>');
    expect(page('```ts\nconst a = "<b>";\n```').html).not.toContain('<b>');
    expect(page('```unknown\n<b>\n```').html).toContain('<code>&lt;b&gt;</code>');
  });

  it('removes comments and HTML', () => {
    expect(page('<!-- not run: why -->\n\n<script>alert(1)</script>\n\na <b>c</b>').html).toBe(
      '<p>a c</p>\n',
    );
  });
});

it('anchors are the same as on GitHub', () => {
  const text = '# A b\n## Über `x_y`, z-1!\n## Same\n## Same\n### [Linked](to)\n';
  expect(headingsIn(text).map(({ level, anchor }) => [level, anchor])).toEqual([
    [1, 'a-b'],
    [2, 'über-x_y-z-1'],
    [2, 'same'],
    [2, 'same-1'],
    [3, 'linked'],
  ]);
});

it('hrefsIn finds links in all blocks', () => {
  const text =
    '# [a](1)\n\n- [b](2)\n  - ![c](3)\n\n| x | y |\n|---|---|\n| [d](4) | **[e](5)** |\n\n`[f](6)`\n';
  expect(hrefsIn(text)).toEqual(['1', '2', '3', '4', '5']);
});

it('codeIn returns code with the preceding block', () => {
  const text = 'First:\n\n```sh\na\n```\n\n<!-- not run: why -->\n```ts\nb\n```\n\n```\nc\n```\n';
  expect(codeIn(text)).toEqual([
    { language: 'sh', code: 'a', before: 'First:' },
    { language: 'ts', code: 'b', before: expect.stringContaining('<!-- not run: why -->') },
  ]);
});

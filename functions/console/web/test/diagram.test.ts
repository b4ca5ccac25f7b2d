import { describe, expect, test } from 'vitest';
import { draw } from '../src/ui/markdown/diagram';

const drawn = async (source: string) => {
  const url = await draw(source);
  expect(url).toMatch(/^data:image\/svg\+xml,/);
  const svg = decodeURIComponent(url.slice(url.indexOf(',') + 1));
  return new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
};

describe('diagrams', () => {
  test.each([
    ['graph TD\n  A[Start] --> B{Sure?}', ['Start', 'Sure?']],
    ['sequenceDiagram\n  Alice->>Bob: Hello', ['Alice', 'Bob', 'Hello']],
    ['stateDiagram-v2\n  Idle --> Running: begin', ['Idle', 'Running', 'begin']],
    ['classDiagram\n  Animal <|-- Duck', ['Animal', 'Duck']],
    ['erDiagram\n  CUSTOMER ||--o{ ORDER : places', ['CUSTOMER', 'ORDER', 'places']],
  ])('are drawn: %j', async (source, texts) => {
    const { tagName, textContent } = await drawn(source);
    expect(tagName).toBe('svg');
    for (const text of texts) expect(textContent).toContain(text);
  });

  test('load nothing, and texts are only texts', async () => {
    const text = '<script>alert(1)</script><img src=x onerror=alert(1)>';
    const svg = await drawn(`graph TD\n  A["${text}"] --> B`);
    expect(svg.querySelector('script, img, foreignObject, a, image')).toBeNull();
    expect(svg.outerHTML).not.toMatch(/@import|https?:(?!\/\/www\.w3\.org)/);
  });

  test.each([
    ['pie title Pets\n  "Dogs" : 3'],
    ['hello'],
    [`graph TD\n${'A --> B\n'.repeat(2000)}`],
  ])('of other types, and too long ones, are refused', async (source) =>
    expect(draw(source)).rejects.toThrow());
});

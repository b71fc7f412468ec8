"""mathml.py - equations of the documents as MathML, which browsers draw without a script.

Blocks ```math hold a part of LaTeX: letters, numbers, operators, ^ _ { }, \\frac, \\sqrt, \\sum, \\mathbf, \\mathrm, \\text, \\left,
\\right, \\quad and the names in SYMBOLS. GitHub draws the same blocks. An unknown name ends the build.
SPDX-License-Identifier: MIT
"""
import html
import re
import sys

SYMBOLS = {"alpha": "α", "beta": "β", "chi": "χ", "epsilon": "ε", "varepsilon": "ε", "phi": "φ", "varphi": "φ", "pi": "π", "rho": "ρ",
           "sigma": "σ", "theta": "θ", "Delta": "Δ", "cdot": "·", "times": "×", "le": "≤", "ge": "≥", "approx": "≈", "infty": "∞",
           "sim": "∼", "ne": "≠", "pm": "±", "langle": "⟨", "rangle": "⟩", "in": "∈"}
SPACES = {"quad": "1em", "qquad": "2em", ",": "0.17em", ";": "0.28em", " ": "0.25em"}
TOKEN = re.compile(r"\s*(\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|[A-Za-z]|\S)")


class Parser:
    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.text = text

    def wrong(self, what):
        sys.exit("mathml.py: %s in the equation %s" % (what, self.text.strip()))

    def take(self):
        if not self.tokens:
            self.wrong("something is missing")
        return self.tokens.pop(0)

    def group(self):
        """An argument: {...}, or one token."""
        if self.tokens and self.tokens[0] == "{":
            self.take()
            inside = self.row("}")
            if not self.tokens:
                self.wrong("a } is missing")
            self.take()
            return inside
        return self.atom()

    def words(self):
        """The letters of an argument, as they are."""
        if self.take() != "{":
            self.wrong("a { is missing")
        said = []
        while self.tokens and self.tokens[0] != "}":
            said.append(self.take())
        self.take()
        return "".join(said)

    def atom(self):
        token = self.take()
        name = token[1:]
        if token == "(" or name == "left":
            return self.parentheses(token)
        if re.match(r"\d", token):
            return "<mn>%s</mn>" % token
        if re.match(r"[A-Za-z]", token):
            return "<mi>%s</mi>" % token
        if not token.startswith("\\"):
            return "<mo>%s</mo>" % html.escape({"-": "−", "*": "∗"}.get(token, token))
        if name == "frac":
            return "<mfrac>%s%s</mfrac>" % (self.group(), self.group())
        if name == "sqrt":
            return "<msqrt>%s</msqrt>" % self.group()
        if name == "sum":
            return "<mo>∑</mo>"
        if name == "mathbf":
            return '<mi mathvariant="bold">%s</mi>' % "".join(chr(0x1D41A + ord(c) - ord("a")) if "a" <= c <= "z" else
                                                              chr(0x1D400 + ord(c) - ord("A")) for c in self.words())
        if name in ("mathrm", "text"):
            return "<mtext>%s</mtext>" % html.escape(self.words())
        if name in SPACES:
            return '<mspace width="%s"/>' % SPACES[name]
        if name in SYMBOLS:
            kind = "mi" if SYMBOLS[name].isalpha() else "mo"
            return "<%s>%s</%s>" % (kind, SYMBOLS[name], kind)
        return self.wrong("%s is not known" % token)

    def parentheses(self, token):
        """A row in parentheses. An exponent after it belongs to the whole."""
        grows = token != "("
        opening = self.take() if grows else token
        inside = self.row("\\right" if grows else ")")
        if self.take() != ("\\right" if grows else ")"):
            self.wrong("a closing parenthesis is missing")
        closing = self.take() if grows else ")"
        mark = '<mo stretchy="%s">%%s</mo>' % ("true" if grows else "false")
        return "<mrow>%s%s%s</mrow>" % (mark % html.escape(opening), inside, mark % html.escape(closing))

    def scripts(self):
        """An atom or group with its indices and exponents."""
        base = self.group()
        low = high = None
        while self.tokens and self.tokens[0] in "^_":
            if self.take() == "^":
                high = self.group()
            else:
                low = self.group()
        if base == "<mo>∑</mo>" and low and not high:
            return "<munder>%s%s</munder>" % (base, low)
        if low and high:
            return "<msubsup>%s%s%s</msubsup>" % (base, low, high)
        if low or high:
            return "<%s>%s%s</%s>" % (("msub", base, low, "msub") if low else ("msup", base, high, "msup"))
        return base

    def row(self, end=None):
        parts = []
        while self.tokens and self.tokens[0] != end:
            parts.append(self.scripts())
        return "<mrow>%s</mrow>" % "".join(parts)


def mathml(text):
    return '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">%s</math>' % Parser(text).row()


def converted(markdown):
    """A document with each ```math block as MathML; each line of a block is an equation."""
    def block(found):
        return "\n<div class=\"equation\">%s</div>\n" % "".join(mathml(line) for line in found.group(1).splitlines() if line.strip())
    return re.sub(r"^```math\n(.*?)^```$", block, markdown, flags=re.S | re.M)

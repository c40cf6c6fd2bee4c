package main

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// handlers are the methods that handle inputs of machines.
var handlers = []string{"Receive", "Request", "Release", "Timeout", "Suspect", "Trust", "Start", "Recover",
	"Campaign", "Lead"}

// mark notes where the code of a machine is, if an object of a package is the type of one.
func (r *reader) mark(p *types.Package, object types.Object) {
	name, is := object.(*types.TypeName)
	if !is || types.IsInterface(name.Type()) {
		return
	}
	of, is := types.Unalias(name.Type()).(*types.Named)
	if !is || of.TypeParams().Len() > of.TypeArgs().Len() { // a generic type without arguments is no machine
		return
	}
	methods := types.NewMethodSet(types.NewPointer(of))
	m := &Machine{Handlers: map[string]*Handler{}}
	for _, method := range handlers {
		if s := methods.Lookup(p, method); s != nil {
			if h := r.handler(s); h != nil {
				m.Handlers[method] = h
			}
		}
	}
	d, known := r.decls[of.Obj()]
	if m.Handlers["Receive"] == nil || !known {
		return
	}
	m.File = r.files.Position(d.file.Pos()).Filename
	if name.IsAlias() { // the file of the alias tells more than that of the generic type
		d = r.decls[name]
		m.File = r.files.Position(d.file.Pos()).Filename
	}
	m.Doc = r.about(d)
	r.out.Machines[p.Name()+"."+typeName(of)] = m
}

// typeName returns the name of a type within its package, as reflect.Type.Name does.
func typeName(of *types.Named) string {
	var arguments []string
	for argument := range of.TypeArgs().Types() {
		arguments = append(arguments, types.TypeString(argument, nil))
	}
	if arguments == nil {
		return of.Obj().Name()
	}
	return of.Obj().Name() + "[" + strings.Join(arguments, ",") + "]"
}

// about returns the lines of the comment about an algorithm: that of the type or, if the type has none or a
// short one, the first longer comment of the file that stands alone.
func (r *reader) about(d declared) [2]int {
	const long = 3 // lines
	var lines [2]int
	for _, doc := range []*ast.CommentGroup{d.gen.Doc, d.spec.Doc} {
		if doc != nil {
			lines = r.lines(doc)
		}
	}
	if lines[1]-lines[0]+1 >= long {
		return lines
	}
	for _, comment := range d.file.Comments {
		if of := r.lines(comment); of[1]-of[0]+1 >= long && standsAlone(d.file, comment) {
			return of
		}
	}
	return lines
}

// standsAlone reports whether a comment of a file belongs to no declaration.
func standsAlone(file *ast.File, comment *ast.CommentGroup) bool {
	return comment.Pos() > file.Name.Pos() && !slices.ContainsFunc(file.Decls, func(decl ast.Decl) bool {
		from := decl.Pos()
		switch d := decl.(type) {
		case *ast.GenDecl:
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
		case *ast.FuncDecl:
			if d.Doc != nil {
				from = d.Doc.Pos()
			}
		}
		return from <= comment.Pos() && comment.Pos() < decl.End()
	})
}

// lines returns the first and the last line of a part of a file.
func (r *reader) lines(n ast.Node) [2]int {
	return [2]int{r.files.Position(n.Pos()).Line, r.files.Position(n.End()).Line}
}

// place returns where a part of a file is.
func (r *reader) place(n ast.Node) Place {
	lines := r.lines(n)
	return Place{r.files.Position(n.Pos()).Filename, lines[0], lines[1]}
}

// handler returns the place of a method with its cases; nil: it is not in the packages that were read.
func (r *reader) handler(s *types.Selection) *Handler {
	f := s.Obj().(*types.Func)
	decl := r.methods[f.Origin()]
	if decl == nil || decl.Body == nil {
		return nil
	}
	h := &Handler{r.place(decl), map[string]Place{}}
	c := caser{r, h, f.Signature().Recv().Type(), decl}
	ast.Inspect(decl.Body, c.visit)
	return h
}

// A caser finds the cases of a handler.
type caser struct {
	*reader
	handler  *Handler
	receiver types.Type // with its type arguments
	decl     *ast.FuncDecl
}

// visit looks at a part of the handler.
func (c *caser) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.TypeSwitchStmt:
		for _, clause := range n.Body.List {
			for _, kind := range clause.(*ast.CaseClause).List {
				c.message(kind, c.place(clause))
			}
		}
	case *ast.CaseClause:
		for _, e := range n.List {
			c.timers(e, c.place(n))
		}
	case *ast.IfStmt:
		if assign, is := n.Init.(*ast.AssignStmt); is {
			c.asserted(assign.Rhs[0], c.place(n))
		}
		c.timers(n.Cond, c.place(n))
	case *ast.AssignStmt: // outside an if: the rest of the handler is about the type
		c.asserted(n.Rhs[0], Place{c.handler.File, c.lines(n)[0], c.handler.To - 1})
	case *ast.CallExpr:
		c.call(n)
	}
	return true
}

// message adds the case of a type of message.
func (c *caser) message(kind ast.Expr, p Place) {
	if of, is := types.Unalias(c.concrete(c.info.TypeOf(kind))).(*types.Named); is {
		c.add(typeName(of), p)
	}
}

// asserted adds the case of a type of message, if an expression asserts that a message has it.
func (c *caser) asserted(e ast.Expr, p Place) {
	if assertion, is := e.(*ast.TypeAssertExpr); is && assertion.Type != nil {
		c.message(assertion.Type, p)
	}
}

// add adds a case, unless the handler has it.
func (c *caser) add(name string, p Place) {
	if _, there := c.handler.Cases[name]; !there {
		c.handler.Cases[name] = p
	}
}

// concrete returns the type argument of the receiver that stands for a type parameter, and other types as
// they are.
func (c *caser) concrete(t types.Type) types.Type {
	parameter, is := t.(*types.TypeParam)
	if !is {
		return t
	}
	receiver := c.receiver
	if pointer, is := receiver.(*types.Pointer); is {
		receiver = pointer.Elem()
	}
	if of, is := receiver.(*types.Named); is && parameter.Index() < of.TypeArgs().Len() {
		return of.TypeArgs().At(parameter.Index())
	}
	return t
}

// call adds the cases of the handler of an embedded type, if the handler calls it by the same name.
func (c *caser) call(call *ast.CallExpr) {
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is || selector.Sel.Name != c.decl.Name.Name {
		return
	}
	s := c.info.Selections[selector]
	if s == nil || s.Kind() != types.MethodVal {
		return
	}
	if c.methods[s.Obj().(*types.Func).Origin()] == c.decl {
		return // it calls itself
	}
	if inner := c.reader.handler(s); inner != nil {
		for name, p := range inner.Cases {
			c.add(name, p)
		}
	}
}

// timers adds the cases of the timers that a condition names.
func (c *caser) timers(condition ast.Expr, p Place) {
	ast.Inspect(condition, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is {
			if kind, timer := c.reader.timers[c.info.Uses[id]]; timer {
				c.add(id.Name, p)
				c.add(strconv.FormatInt(kind, 10), p)
			}
		}
		return true
	})
}

// noteTimers notes the kinds of timers that constants and variables have.
func (r *reader) noteTimers(s *ast.ValueSpec) {
	for i, name := range s.Names {
		switch object := r.info.Defs[name].(type) {
		case *types.Const:
			if isCore(object.Type(), "TimerKind") {
				r.timers[object], _ = constant.Int64Val(object.Val())
			}
		case *types.Var:
			if isCore(object.Type(), "Timer") && i < len(s.Values) {
				r.timers[object] = r.kindOf(s.Values[i])
			}
		}
	}
}

// kindOf returns the kind of a timer that is written as a literal.
func (r *reader) kindOf(timer ast.Expr) int64 {
	literal, is := timer.(*ast.CompositeLit)
	if !is {
		return 0
	}
	for i, element := range literal.Elts {
		pair, keyed := element.(*ast.KeyValueExpr)
		switch {
		case keyed && pair.Key.(*ast.Ident).Name == "Kind":
			element = pair.Value
		case keyed || i > 0:
			continue
		}
		if value := r.info.Types[element].Value; value != nil {
			kind, _ := constant.Int64Val(value)
			return kind
		}
	}
	return 0
}

// isCore reports whether a type is the one of package nodes that has this name.
func isCore(t types.Type, name string) bool {
	of, is := types.Unalias(t).(*types.Named)
	return is && of.Obj().Name() == name && of.Obj().Pkg() != nil &&
		slices.Contains(strings.Split(of.Obj().Pkg().Path(), "/"), "nodes")
}
